#include "analysis/pauses.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/host_state.h"
#include "analysis/interval_set.h"
#include "analysis/waterfall.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::Cause;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::InferredRegion;
using model::Interval;
using model::kNone;
using model::TimeNs;

constexpr std::int64_t kMinCopies = 8;
constexpr std::int64_t kMinBytes = std::int64_t{1} << 20;
constexpr DurationNs kMinPause = 5'000'000;

// Operators that state_dict() calls for each tensor, and those around them that compute nothing
// either: making the host's tensor and pointing it at its storage.
constexpr std::array<std::string_view, 2> kWalking = {"aten::detach", "detach"};
constexpr std::array<std::string_view, 9> kHandling = {
    "aten::detach", "detach",      "aten::empty",   "aten::empty_strided", "aten::set_",
    "aten::alias",  "aten::clone", "aten::resize_", "aten::view"};

template <std::size_t n>
bool is_in(std::string_view name, const std::array<std::string_view, n>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Host time within a stretch by what the thread did there.
struct HostSplit {
  DurationNs operators = 0;
  DurationNs other = 0;  // neither operator nor call
};

class CopyBursts {
 public:
  CopyBursts(const model::RankTimeline& t, model::RankAnalysis& a) : t_(t), a_(a), states_(t, a) {}

  void run() {
    const model::RowRange calls =
        rows_within(t_.api_calls.start, t_.threads[t_.main_thread].api_calls, a_.steps.window);
    InferredRegion burst;
    for (Index call = calls.begin; call < calls.end; ++call) {
      const Index activity = t_.api_calls.first_activity[call];
      if (activity == kNone) continue;
      if (t_.activities.copy[activity] == model::CopyKind::kD2H) {
        if (burst.copies == 0) burst.span.start = t_.api_calls.start[call];
        ++burst.copies;
        const Index detail = t_.activities.detail[activity];
        if (detail != kNone && t_.copy_bytes[detail] > 0) burst.bytes += t_.copy_bytes[detail];
      } else {
        close(burst, t_.api_calls.start[call]);
      }
    }
    close(burst, a_.steps.window.end);
    // Nobody saves in most steps: what does is statistics on the host.
    std::set<std::size_t> steps;
    for (const InferredRegion& found : found_) steps.insert(step_at(a_.steps, found.span.start));
    const bool frequent = a_.steps.steps.size() >= 4 && steps.size() * 2 > a_.steps.steps.size();
    for (InferredRegion& found : found_) {
      if (frequent) found.cause = Cause::kIdleLogging;
      if (found.cause == Cause::kIdleCheckpoint) found.span.start = serialisation_start(found);
      a_.pauses.inferred.push_back(found);
    }
  }

 private:
  void close(InferredRegion& burst, TimeNs end) {
    if (burst.copies >= kMinCopies && burst.bytes >= kMinBytes) {
      burst.span.end = end;
      classify(burst);
    }
    burst = {};
  }

  void classify(InferredRegion& burst) {
    const HostSplit split = host_split(burst.span);
    if (split.other >= kMinPause && split.other >= split.operators) {
      burst.cause = Cause::kIdleCheckpoint;
    } else if (split.operators >= kMinPause && split.operators > split.other) {
      burst.cause = Cause::kIdleLogging;
    } else {
      return;
    }
    found_.push_back(burst);
  }

  // torch.save first walks the state (state_dict() detaches each tensor) and pickles all of it, and
  // only then copies the first tensor. So the saving begins with the first of the operators that
  // only handle tensors right before the copies; where there are none but those of the copy itself,
  // with the host's own time before it. Not before the step, and not inside a recorded region.
  TimeNs serialisation_start(const InferredRegion& burst) {
    const TimeNs copy = burst.span.start;
    const Interval before{earliest_start(copy), copy};
    const model::RowRange ops =
        rows_within(t_.host_ops.start, t_.threads[t_.main_thread].host_ops, before);
    TimeNs start = copy;
    TimeNs pause = before.start;  // where the host's own time before the first such operator begins
    bool walks_state = false;
    for (Index op = ops.end; op-- > ops.begin;) {
      if (t_.host_ops.parent[op] != kNone) continue;
      const std::string_view name = t_.name(t_.host_ops.name[op]);
      // The operator of the copy itself began before its call.
      if (t_.host_ops.end[op] < copy && !is_in(name, kHandling)) {
        pause = std::max(pause, t_.host_ops.end[op]);
        break;
      }
      start = t_.host_ops.start[op];
      walks_state = walks_state || is_in(name, kWalking);
    }
    return walks_state ? start : std::min(start, pause);
  }

  // The end of the last launch before `copy`, of the last recorded region, or the step's start.
  TimeNs earliest_start(TimeNs copy) {
    const std::size_t step = step_at(a_.steps, copy);
    TimeNs start =
        step < a_.steps.steps.size() ? a_.steps.steps[step].span.start : a_.steps.window.start;
    const model::RowRange calls = rows_within(
        t_.api_calls.start, t_.threads[t_.main_thread].api_calls, Interval{start, copy});
    for (Index call = calls.end; call-- > calls.begin;) {
      if (t_.api_calls.first_activity[call] == kNone) continue;
      start = std::max(start, t_.api_calls.end[call]);
      break;
    }
    states_.split(t_.main_thread, {start, copy}, [&](HostState state, TimeNs, TimeNs to) {
      if (is_region(state) || state == HostState::kBlocked) start = std::max(start, to);
    });
    return start;
  }

  HostSplit host_split(Interval span) {
    HostSplit split;
    states_.split(t_.main_thread, span, [&](HostState state, TimeNs from, TimeNs to) {
      if (state == HostState::kIssue) split.operators += to - from;
      if (state == HostState::kNone) split.other += to - from;
    });
    return split;
  }

  const model::RankTimeline& t_;
  model::RankAnalysis& a_;
  HostStates states_;
  std::vector<InferredRegion> found_;
};

// Starts of the rank's launches, ascending, and the latest end up to each.
struct Launches {
  std::vector<TimeNs> starts;
  std::vector<TimeNs> ends;
};

Launches launches_of(const model::RankTimeline& t) {
  std::vector<Interval> calls;
  for (Index i = 0; i < t.api_calls.size(); ++i) {
    if (t.api_calls.first_activity[i] != kNone) {
      calls.push_back({t.api_calls.start[i], t.api_calls.end[i]});
    }
  }
  std::sort(calls.begin(), calls.end(),
            [](const Interval& x, const Interval& y) { return x.start < y.start; });
  Launches launches;
  for (const Interval& call : calls) {
    launches.starts.push_back(call.start);
    launches.ends.push_back(launches.ends.empty() ? call.end
                                                  : std::max(launches.ends.back(), call.end));
  }
  return launches;
}

// torch.compile leaves a short marker at each phase; those of one compile_id belong to one
// compilation, on whichever thread. It reaches from the last launch before the first of them to the
// next launch after the last.
void find_compilations(const model::RankTimeline& t, model::RankAnalysis& a) {
  constexpr std::string_view kId = "compile_id=";
  std::map<std::pair<model::ThreadId, std::string_view>, Interval> spans;
  for (Index i = 0; i < t.annotations.size(); ++i) {
    const std::string_view name = t.name(t.annotations.name[i]);
    const std::size_t at = name.find(kId);
    if (at == name.npos) continue;
    const auto [span, is_new] =
        spans.try_emplace({t.annotations.thread[i], name.substr(at)},
                          Interval{t.annotations.start[i], t.annotations.end[i]});
    if (!is_new) span->second.end = std::max(span->second.end, t.annotations.end[i]);
  }
  if (spans.empty()) return;
  const Launches launches = launches_of(t);
  for (auto& [key, span] : spans) {
    const auto next = std::lower_bound(launches.starts.begin(), launches.starts.end(), span.end);
    if (next != launches.starts.end()) span.end = *next;
    const auto first = std::lower_bound(launches.starts.begin(), launches.starts.end(), span.start);
    if (first != launches.starts.begin()) {
      const auto before = static_cast<std::size_t>(first - launches.starts.begin()) - 1;
      span.start = std::min(span.start, launches.ends[before]);
    }
    span.start = std::max(span.start, a.steps.window.start);
    a.pauses.inferred.push_back({span, Cause::kIdleCompile, 0, 0, {}});
  }
}

// By time; an overlapping one loses the part that an earlier one has.
void make_disjoint(std::vector<InferredRegion>& regions) {
  std::sort(regions.begin(), regions.end(), [](const InferredRegion& x, const InferredRegion& y) {
    return x.span.start != y.span.start ? x.span.start < y.span.start : x.span.end > y.span.end;
  });
  std::vector<InferredRegion> kept;
  for (InferredRegion region : regions) {
    if (!kept.empty()) region.span.start = std::max(region.span.start, kept.back().span.end);
    if (region.span.length() > 0) kept.push_back(region);
  }
  regions = std::move(kept);
}

// What the waterfall says of each region, which counts it as what was recorded.
void split_by_cause(const model::RankTimeline& t, model::RankAnalysis& a) {
  if (a.pauses.inferred.empty()) return;
  std::vector<Interval> spans;
  for (const InferredRegion& region : a.pauses.inferred) spans.push_back(region.span);
  for (const auto& device : waterfall_of(t, a, a.steps.window, spans).devices) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      for (std::size_t c = 0; c < model::kCauseCount; ++c) {
        a.pauses.inferred[i].causes[c] += device.steps[i][c];
      }
    }
  }
}

// When kernels ran on any device of the rank.
IntervalSet kernel_time(const model::RankTimeline& t) {
  std::vector<Interval> spans;
  for (Index i = 0; i < t.activities.size(); ++i) {
    if (t.activities.kind[i] == model::ActivityKind::kKernel) {
      spans.push_back({t.activities.start[i], t.activities.end[i]});
    }
  }
  return IntervalSet(std::move(spans));
}

// What the main thread did in the window, by the cause of idle time that it would stand for on a
// device. That is what a run on the CPU alone, or one whose GPU was not watched, knows of its
// pauses.
model::CauseTimes host_times(const model::RankTimeline& t, const model::RankAnalysis& a) {
  model::CauseTimes times{};
  HostStates states(t, a);
  states.split(t.main_thread, a.steps.window, [&](HostState state, TimeNs from, TimeNs to) {
    model::at(times, cause_of_host(state)) += to - from;
  });
  return times;
}

// Time of one cause in the window without a kernel running: idle in a recorded region, plus the
// inferred stretches.
class PauseTimes {
 public:
  PauseTimes(const model::RankTimeline& t, const model::RankAnalysis& a)
      : t_(t), a_(a), kernels_(kernel_time(t)) {}

  [[nodiscard]] DurationNs of(Cause cause) const {
    DurationNs time = 0;
    const auto devices = static_cast<DurationNs>(a_.waterfall.devices.size());
    if (devices > 0) time = model::at(a_.waterfall.causes, cause) / devices;
    for (const InferredRegion& region : a_.pauses.inferred) {
      if (region.cause != cause) continue;
      const Interval span{std::max(region.span.start, a_.steps.window.start),
                          std::min(region.span.end, a_.steps.window.end)};
      if (span.length() <= 0) continue;
      time += span.length() - kernels_.length_within(span);
    }
    return time;
  }

 private:
  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  IntervalSet kernels_;
};

// The waits of a validation's loader are part of the validation.
void tell_host_times(const model::CauseTimes& times, DurationNs validation_input,
                     FactWriter& facts) {
  const auto share = [&](FactId id, DurationNs time) { facts.host_share(id, time); };
  share(FactId::kPausesCheckpointShare, at(times, Cause::kIdleCheckpoint));
  share(FactId::kPausesValidationShare, at(times, Cause::kIdleValidation) + validation_input);
  share(FactId::kPausesLoggingShare, at(times, Cause::kIdleLogging));
  share(FactId::kPausesCompileShare, at(times, Cause::kIdleCompile));
  share(FactId::kPausesGcShare, at(times, Cause::kIdleGc));
  share(FactId::kPausesOwnCodeShare, at(times, Cause::kIdleHost));
  share(FactId::kPausesFrameworkShare, at(times, Cause::kIdleLaunch));
  facts.set(FactId::kPausesInferredCheckpoints, 0);
}

}  // namespace

void find_pauses(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (!t.threads.empty() && t.run != nullptr && t.activities.size() == 0) {
    return tell_host_times(host_times(t, a), a.pauses.input.in_validation, facts);
  }
  facts.missing({FactId::kPausesOwnCodeShare, FactId::kPausesFrameworkShare},
                "told for recordings of runs without GPU work: see the waterfall");
  if (t.threads.empty() || !t.has_host_events()) {
    facts.all_missing("pauses", t.activities.size() == 0 ? "no device activity was recorded"
                                                         : "no host events were recorded");
    return;
  }
  CopyBursts(t, a).run();
  find_compilations(t, a);
  make_disjoint(a.pauses.inferred);
  split_by_cause(t, a);
  const PauseTimes times(t, a);
  facts.host_share(FactId::kPausesCheckpointShare, times.of(Cause::kIdleCheckpoint));
  facts.host_share(FactId::kPausesValidationShare,
                   times.of(Cause::kIdleValidation) +
                       (a.waterfall.devices.empty() ? 0 : a.pauses.input.in_validation));
  facts.host_share(FactId::kPausesLoggingShare, times.of(Cause::kIdleLogging));
  facts.host_share(FactId::kPausesCompileShare, times.of(Cause::kIdleCompile));
  facts.host_share(FactId::kPausesGcShare, times.of(Cause::kIdleGc));
  const auto is_checkpoint = [](const InferredRegion& r) {
    return r.cause == Cause::kIdleCheckpoint;
  };
  const auto& inferred = a.pauses.inferred;
  facts.set(FactId::kPausesInferredCheckpoints,
            static_cast<double>(std::count_if(inferred.begin(), inferred.end(), is_checkpoint)));
}

}  // namespace pyrometer::analysis
