#include "analysis/launch.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analysis/kernels.h"
#include "analysis/nearly_sorted.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ActivityKind;
using model::ApiClass;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::Interval;
using model::kNone;
using model::LaunchStats;
using model::TimeNs;

constexpr std::size_t kMaxCurvePoints = 200;

// An activity as the queue sees it.
struct Queued {
  TimeNs from = 0;  // launch call's start, at most the activity's own
  Index activity = kNone;
};

// Integrates the queue's length over a window and over equal slices of it.
class QueueIntegral {
 public:
  explicit QueueIntegral(Interval window)
      : window_(window),
        slices_(
            window.length() > 0
                ? std::min<std::size_t>(kMaxCurvePoints, static_cast<std::size_t>(window.length()))
                : 0) {}

  // The queue holds `length` activities during [from, to).
  void add(TimeNs from, TimeNs to, std::int64_t length) {
    from = std::max(from, window_.start);
    to = std::min(to, window_.end);
    if (from >= to) return;
    if (length == 0) {
      empty_ += to - from;
      return;
    }
    longest_ = std::max(longest_, length);
    while (from < to) {
      while (slice_ + 1 < slices_.size() && from >= slice_end()) ++slice_;
      const TimeNs until = slice_ + 1 < slices_.size() ? std::min(to, slice_end()) : to;
      slices_[slice_] += static_cast<double>(until - from) * static_cast<double>(length);
      from = until;
    }
  }

  void fill(LaunchStats& stats) const {
    const auto span = static_cast<double>(window_.length());
    if (span <= 0) return;
    double area = 0;
    for (std::size_t k = 0; k < slices_.size(); ++k) {
      area += slices_[k];
      stats.queue_curve.push_back(slices_[k] / static_cast<double>(bound(k + 1) - bound(k)));
    }
    stats.queue_length_mean = area / span;
    stats.queue_length_max = longest_;
    stats.queue_empty_share = static_cast<double>(empty_) / span;
  }

 private:
  // Start of slice k, without a product that could overflow.
  [[nodiscard]] TimeNs bound(std::size_t k) const {
    const auto n = static_cast<TimeNs>(slices_.size());
    const auto slice = static_cast<TimeNs>(k);
    return window_.start + window_.length() / n * slice + window_.length() % n * slice / n;
  }
  [[nodiscard]] TimeNs slice_end() const { return bound(slice_ + 1); }

  Interval window_;
  std::vector<double> slices_;  // ns × activities
  std::size_t slice_ = 0;
  DurationNs empty_ = 0;
  std::int64_t longest_ = 0;
};

class DeviceQueue {
 public:
  DeviceQueue(const model::RankTimeline& t, const model::RankAnalysis& a,
              const model::Device& device)
      : t_(t), window_(a.steps.window) {
    const model::ActivityTable& act = t.activities;
    queued_.reserve(device.activities.size());
    ends_.reserve(device.activities.size());
    for (Index i = device.activities.begin; i < device.activities.end; ++i) {
      const Index call = act.launch[i];
      const TimeNs from =
          call == kNone ? act.start[i] : std::min(t.api_calls.start[call], act.start[i]);
      queued_.push_back({from, i});
      ends_.push_back(act.end[i]);
    }
    sort_nearly_sorted(queued_, [](const Queued& x, const Queued& y) {
      return x.from != y.from ? x.from < y.from : x.activity < y.activity;
    });
    sort_nearly_sorted(ends_, std::less<>());
  }

  void fill(LaunchStats& stats) {
    QueueIntegral integral(window_);
    std::vector<DurationNs> latency;
    std::vector<DurationNs> delay;
    TimeNs now = window_.start;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < queued_.size(); ++i) {
      const TimeNs from = queued_[i].from;
      while (ended < i && ends_[ended] <= from) {
        integral.add(now, ends_[ended], length(i, ended));
        now = std::max(now, ends_[ended]);
        ++ended;
      }
      integral.add(now, from, length(i, ended));
      now = std::max(now, from);
      const Index call = t_.activities.launch[queued_[i].activity];
      if (call == kNone || !contains(window_, from)) continue;
      const DurationNs waited = t_.activities.start[queued_[i].activity] - from;
      delay.push_back(waited);
      if (ended == i) latency.push_back(waited);
    }
    for (; ended < ends_.size(); ++ended) {
      integral.add(now, ends_[ended], length(queued_.size(), ended));
      now = std::max(now, ends_[ended]);
    }
    integral.add(now, window_.end, 0);
    integral.fill(stats);
    stats.latency_p50 = percentile(latency, 50);
    stats.latency_p95 = percentile(latency, 95);
    stats.queue_delay_p50 = percentile(delay, 50);
    stats.empty_queue_launches = static_cast<std::int64_t>(latency.size());
  }

 private:
  static std::int64_t length(std::size_t begun, std::size_t ended) {
    return static_cast<std::int64_t>(begun - ended);
  }

  const model::RankTimeline& t_;
  Interval window_;
  std::vector<Queued> queued_;
  std::vector<TimeNs> ends_;
};

void count_short_kernels(const model::RankTimeline& t, Interval window, const model::Device& device,
                         LaunchStats& stats) {
  std::int64_t kernels = 0;
  std::int64_t brief = 0;
  const model::RowRange rows = rows_within(t.activities.start, device.activities, window);
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (t.activities.kind[i] != ActivityKind::kKernel) continue;
    ++kernels;
    if (t.activities.duration(i) < kShortKernelNs) ++brief;
  }
  if (kernels > 0) {
    stats.short_kernel_share = static_cast<double>(brief) / static_cast<double>(kernels);
  }
}

// Launch calls by device of what they launched, and what they cost the host.
struct CallSums {
  std::int64_t launches = 0;          // kernel launch calls in the window with a kernel seen
  std::int64_t blocking = 0;          // of which returned after the kernel's end
  DurationNs inside = 0;              // host time in kernel and graph launch calls, clipped
  std::vector<std::int64_t> stepped;  // launch calls within the steps, by device
};

CallSums sum_calls(const model::RankTimeline& t, model::RankAnalysis& a) {
  CallSums sums;
  sums.stepped.assign(t.devices.size(), 0);
  const Interval window = a.steps.window;
  const Interval stepped = stepped_span(a.steps);
  const model::ApiCallTable& calls = t.api_calls;
  for (Index i = 0; i < calls.size(); ++i) {
    const ApiClass klass = a.api_class[calls.name[i]];
    if (klass == ApiClass::kKernelLaunch || klass == ApiClass::kGraphLaunch) {
      sums.inside += clipped(calls.start[i], calls.end[i], window);
    }
    const Index first = calls.first_activity[i];
    if (first == kNone) continue;
    const model::DeviceId device = t.activities.device[first];
    if (contains(stepped, calls.start[i])) ++sums.stepped[device];
    if (!contains(window, calls.start[i])) continue;
    ++a.host.launch[device].launches;
    if (klass == ApiClass::kKernelLaunch) {
      ++sums.launches;
      if (calls.end[i] >= t.activities.end[first]) ++sums.blocking;
    }
  }
  return sums;
}

// Of activities and kernels that start in the window.
void set_link_facts(const model::RankTimeline& t, const model::RankAnalysis& a, FactWriter& facts) {
  double all = 0;
  double linked = 0;
  double followed = 0;  // on a stream that had a linked activity before
  double lost = 0;      // of these, the ones without a launch
  double kernels = 0;
  double in_graphs = 0;
  for (const model::Device& device : t.devices) {
    const auto rows = rows_within(t.activities.start, device.activities, a.steps.window);
    // A stream runs in issue order: what ran before its first linked activity was launched before
    // the trace began, and is not lost.
    std::set<std::int32_t> streams;
    for (Index i = rows.begin; i < rows.end; ++i) {
      const Index call = t.activities.launch[i];
      ++all;
      if (streams.contains(t.activities.stream[i])) {
        ++followed;
        if (call == kNone) ++lost;
      }
      if (call != kNone) {
        ++linked;
        streams.insert(t.activities.stream[i]);
      }
      if (t.activities.kind[i] != ActivityKind::kKernel) continue;
      ++kernels;
      if (t.activities.graph_node[i] != 0 ||
          (call != kNone && a.api_class[t.api_calls.name[call]] == ApiClass::kGraphLaunch)) {
        ++in_graphs;
      }
    }
  }
  facts.ratio(FactId::kLaunchLinkedShare, linked, all, "no device activity in the window");
  facts.ratio(FactId::kLaunchLostShare, lost, followed, "no activity with a launch call was seen");
  facts.ratio(FactId::kLaunchGraphShare, in_graphs, kernels, "no kernels in the window");
}

void set_queue_facts(const LaunchStats& stats, FactWriter& facts) {
  facts.set(FactId::kLaunchQueueEmptyShare, stats.queue_empty_share);
  facts.set(FactId::kLaunchQueueLengthMean, stats.queue_length_mean);
  facts.set(FactId::kLaunchQueueDelayP50, static_cast<double>(stats.queue_delay_p50));
  facts.set(FactId::kLaunchShortKernelShare, stats.short_kernel_share);
  if (stats.empty_queue_launches == 0) {
    facts.missing({FactId::kLaunchLatencyP50, FactId::kLaunchLatencyP95},
                  "no launch met an empty queue");
    return;
  }
  facts.set(FactId::kLaunchLatencyP50, static_cast<double>(stats.latency_p50));
  facts.set(FactId::kLaunchLatencyP95, static_cast<double>(stats.latency_p95));
}

}  // namespace

void measure_launches(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.host.launch.assign(t.devices.size(), {});
  const CallSums calls = sum_calls(t, a);
  const LaunchStats* busiest = nullptr;
  std::int64_t launches = 0;
  const double steps = static_cast<double>(a.steps.steps.size());
  for (std::size_t d = 0; d < t.devices.size(); ++d) {
    LaunchStats& stats = a.host.launch[d];
    DeviceQueue(t, a, t.devices[d]).fill(stats);
    count_short_kernels(t, a.steps.window, t.devices[d], stats);
    if (steps > 0) stats.per_step = static_cast<double>(calls.stepped[d]) / steps;
    launches += calls.stepped[d];
    if (stats.launches > 0 && (busiest == nullptr || stats.launches > busiest->launches)) {
      busiest = &stats;
    }
  }
  if (busiest == nullptr) {
    facts.all_missing("launch", "no launch call with its device activity in the window");
    return;
  }
  set_queue_facts(*busiest, facts);
  set_link_facts(t, a, facts);
  facts.per_step(FactId::kLaunchPerStep, static_cast<double>(launches));
  facts.host_share(FactId::kLaunchCallShare, calls.inside);
  facts.ratio(FactId::kLaunchBlockingShare, static_cast<double>(calls.blocking),
              static_cast<double>(calls.launches), "no kernel launch calls in the window");
}

}  // namespace pyrometer::analysis
