#include "analysis/waterfall.h"

#include <algorithm>
#include <limits>
#include <string>

#include "analysis/host_state.h"
#include "analysis/waterfall_busy.h"

namespace pyrometer::analysis {
namespace {

using model::at;
using model::Cause;
using model::CauseTimes;
using model::DeviceWaterfall;
using model::FactId;
using model::Gap;
using model::Index;
using model::Interval;
using model::KernelClass;
using model::kNone;
using model::TimeNs;

constexpr TimeNs kBegin = std::numeric_limits<TimeNs>::min();
constexpr TimeNs kEnd = std::numeric_limits<TimeNs>::max();

// Adds [start, end) of one cause to the window's total and to the steps it touches. Calls come in
// time order, so a cursor finds the step.
class Ledger {
 public:
  Ledger(Interval window, const std::vector<Interval>& steps, DeviceWaterfall& out)
      : window_(window), steps_(steps), out_(out) {
    out_.window = window;
    out_.steps.assign(steps.size(), CauseTimes{});
  }

  void add(Cause cause, TimeNs start, TimeNs end) {
    start = std::max(start, window_.start);
    end = std::min(end, window_.end);
    if (start >= end) return;
    at(out_.causes, cause) += end - start;
    while (step_ < steps_.size() && steps_[step_].end <= start) ++step_;
    for (std::size_t i = step_; i < steps_.size() && steps_[i].start < end; ++i) {
      const TimeNs from = std::max(start, steps_[i].start);
      const TimeNs to = std::min(end, steps_[i].end);
      if (to > from) at(out_.steps[i], cause) += to - from;
    }
  }

 private:
  Interval window_;
  const std::vector<Interval>& steps_;
  DeviceWaterfall& out_;
  std::size_t step_ = 0;
};

class DeviceSweep {
 public:
  DeviceSweep(const model::RankTimeline& t, const model::RankAnalysis& a, HostStates& hosts,
              Interval window, const std::vector<Interval>& steps)
      : t_(t), hosts_(hosts), a_(a), window_(window), ledger_(window, steps, out_) {}

  DeviceWaterfall run(model::DeviceId id) {
    out_.device = id;
    device_ = &t_.devices[id];
    next_ = device_->activities.begin;
    TimeNs busy_end = kBegin;
    for (const auto& segment : busy_segments(t_, a_, *device_)) {
      if (segment.start >= window_.end) {
        // The gap before it may still reach into the window.
        if (busy_end < window_.end) gap(busy_end, segment.start);
        return std::move(out_);
      }
      if (segment.start > busy_end) gap(busy_end, segment.start);
      ledger_.add(segment.label, segment.start, segment.end);
      busy_end = segment.end;
    }
    if (busy_end < window_.end) gap(busy_end, kEnd);
    return std::move(out_);
  }

 private:
  // The activity that starts at `time`: of several, the one launched first.
  [[nodiscard]] Index activity_at(TimeNs time) {
    const model::ActivityTable& act = t_.activities;
    while (next_ < device_->activities.end && act.start[next_] < time) ++next_;
    Index found = kNone;
    for (Index i = next_; i < device_->activities.end && act.start[i] == time; ++i) {
      if (act.end[i] <= act.start[i]) continue;
      if (found == kNone || launch_time(i) < launch_time(found)) found = i;
    }
    return found;
  }
  [[nodiscard]] TimeNs launch_time(Index activity) const {
    const Index call = t_.activities.launch[activity];
    return call == kNone ? kEnd : t_.api_calls.start[call];
  }

  void gap(TimeNs start, TimeNs end) {
    const Interval span{std::max(start, window_.start), std::min(end, window_.end)};
    if (span.start >= span.end) return;
    Gap gap;
    gap.span = span;
    gap.busy_end = start;
    gap.next = end == kEnd ? kNone : activity_at(end);
    gap.launch = gap.next == kNone ? kNone : t_.activities.launch[gap.next];
    const auto give = [&](Cause cause, TimeNs from, TimeNs to) {
      at(gap.causes, cause) += to - from;
      ledger_.add(cause, from, to);
    };
    if (gap.launch != kNone) {
      by_launch(gap, give);
    } else if (gap.next == kNone && t_.has_host_events()) {
      // Nothing follows on this device: what the main thread did is all that can be said.
      by_host(t_.main_thread, span, give);
    } else {
      give(Cause::kUnattributed, span.start, span.end);
      reason(t_.has_host_events() ? "the call that launched the next activity was not recorded"
                                  : "no host events were recorded",
             span.length());
    }
    out_.gaps.push_back(gap);
  }

  template <typename Give>
  void by_launch(const Gap& gap, Give give) {
    const TimeNs launched = t_.api_calls.start[gap.launch];
    if (launched < gap.busy_end) {
      give(Cause::kIdleDevice, gap.span.start, gap.span.end);
      return;
    }
    const TimeNs split = std::clamp(launched, gap.span.start, gap.span.end);
    by_host(t_.api_calls.thread[gap.launch], {gap.span.start, split}, give);
    if (split < gap.span.end) give(Cause::kIdleLaunch, split, gap.span.end);
  }

  template <typename Give>
  void by_host(model::ThreadId thread, Interval span, Give give) {
    hosts_.split(thread, span, [&](HostState state, TimeNs from, TimeNs to) {
      give(cause_of_host(state), from, to);
    });
  }

  void reason(std::string_view text, model::DurationNs time) {
    for (model::UnattributedReason& known : out_.unattributed) {
      if (known.reason == text) {
        known.time += time;
        return;
      }
    }
    out_.unattributed.push_back({std::string(text), time});
  }

  const model::RankTimeline& t_;
  HostStates& hosts_;
  const model::RankAnalysis& a_;
  Interval window_;
  DeviceWaterfall out_;
  Ledger ledger_;
  const model::Device* device_ = nullptr;
  Index next_ = 0;
};

FactId share_fact(Cause cause) {
  return static_cast<FactId>(static_cast<std::size_t>(FactId::kWaterfallComputeTensor) +
                             static_cast<std::size_t>(cause));
}

void set_facts(const CauseTimes& causes, model::FactSet& facts, std::string_view missing) {
  const auto whole = static_cast<double>(model::total(causes));
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (whole > 0) {
      facts.set(share_fact(cause), static_cast<double>(causes[i]) / whole);
    } else {
      facts.set_missing(share_fact(cause), std::string(missing));
    }
  }
  if (whole > 0) {
    facts.set(FactId::kWaterfallBusy, static_cast<double>(model::busy_time(causes)) / whole);
  } else {
    facts.set_missing(FactId::kWaterfallBusy, std::string(missing));
  }
}

constexpr std::string_view kNoDevice = "no device activity was recorded";

}  // namespace

Cause cause_of_host(HostState state) {
  switch (state) {
    case HostState::kInput:
      return Cause::kIdleInput;
    case HostState::kCheckpoint:
      return Cause::kIdleCheckpoint;
    case HostState::kValidation:
      return Cause::kIdleValidation;
    case HostState::kCompile:
      return Cause::kIdleCompile;
    case HostState::kGc:
      return Cause::kIdleGc;
    case HostState::kLogging:
      return Cause::kIdleLogging;
    case HostState::kAlloc:
      return Cause::kIdleAlloc;
    case HostState::kBlocked:
      return Cause::kIdleSync;
    case HostState::kIssue:
      return Cause::kIdleLaunch;
    case HostState::kNone:
      break;
  }
  return Cause::kIdleHost;
}

Cause cause_of_kernel(model::KernelTraits traits) {
  switch (traits.klass) {
    case KernelClass::kGemm:
    case KernelClass::kConv:
    case KernelClass::kAttention:
      if (traits.matrix_units == model::MatrixUnits::kYes) return Cause::kComputeTensor;
      // Not knowing whether matrix units are used is no evidence that they are not.
      return traits.matrix_units == model::MatrixUnits::kNo ? Cause::kComputeMath
                                                            : Cause::kComputeOther;
    case KernelClass::kComm:
      return Cause::kCommTransfer;
    case KernelClass::kOther:
      return Cause::kComputeOther;
    default:
      return Cause::kComputeMemory;
  }
}

model::RankWaterfall waterfall_of(const model::RankTimeline& t, const model::RankAnalysis& a,
                                  Interval window, const std::vector<Interval>& steps) {
  model::RankWaterfall result;
  result.skew_known = !a.comm.last_arrival.empty();
  HostStates hosts(t, a);
  for (std::size_t i = 0; i < t.devices.size(); ++i) {
    if (t.devices[i].activities.size() == 0) continue;  // visible, but not used by this rank
    result.devices.push_back(
        DeviceSweep(t, a, hosts, window, steps).run(static_cast<model::DeviceId>(i)));
    for (std::size_t c = 0; c < model::kCauseCount; ++c) {
      result.causes[c] += result.devices.back().causes[c];
    }
  }
  return result;
}

void compute_waterfall(const model::RankTimeline& t, model::RankAnalysis& a) {
  std::vector<Interval> steps;
  for (const model::Step& step : a.steps.steps) steps.push_back(step.span);
  a.waterfall = waterfall_of(t, a, a.steps.window, steps);
  set_facts(a.waterfall.causes, a.facts, kNoDevice);
}

void sum_waterfalls(const model::Timeline&, model::JobAnalysis& job) {
  for (const model::RankAnalysis& rank : job.ranks) {
    for (std::size_t c = 0; c < model::kCauseCount; ++c) {
      job.causes[c] += rank.waterfall.causes[c];
    }
  }
  set_facts(job.causes, job.facts, kNoDevice);
}

}  // namespace pyrometer::analysis
