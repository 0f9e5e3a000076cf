#include "analysis/dilation.h"

#include <algorithm>
#include <string_view>

#include "analysis/dilation_events.h"
#include "analysis/dilation_table.h"

namespace pyrometer::analysis {
namespace {

using model::Dilation;
using model::FactId;
using model::Index;
using model::RowRange;
using model::TimeNs;

struct Setting {
  bool on = false;
  std::string_view from;  // how it is known
};

Setting setting(const std::optional<bool>& given, bool seen) {
  if (given) return {*given, "trace metadata"};
  return {seen, "the events recorded"};
}

bool any_shapes(const model::RankTimeline& t) {
  return std::any_of(t.host_ops.shapes.begin(), t.host_ops.shapes.end(),
                     [](model::NameId shapes) { return shapes != 0; });
}

bool is_trivial(std::string_view name) {
  return std::find(std::begin(kTrivialOps), std::end(kTrivialOps), name) != std::end(kTrivialOps);
}

// Lower quartile of the durations of operators that only make a view: the host's speed, since they
// always do the same little work. 0 when there are too few, or the clock is too coarse to tell.
double trivial_op_ns(const model::RankTimeline& t) {
  std::vector<char> trivial(t.names.size(), 2);  // 2: not looked at yet
  std::vector<TimeNs> durations;
  bool fine_clock = false;
  for (Index i = 0; i < t.host_ops.size(); ++i) {
    char& known = trivial[t.host_ops.name[i]];
    if (known == 2) known = is_trivial(t.name(t.host_ops.name[i])) ? 1 : 0;
    if (known == 0) continue;
    const TimeNs duration = t.host_ops.end[i] - t.host_ops.start[i];
    fine_clock = fine_clock || duration % 1000 != 0;
    durations.push_back(duration);
  }
  constexpr std::size_t kEnough = 20;
  if (!fine_clock || durations.size() < kEnough) return 0;
  const auto quartile = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 4);
  std::nth_element(durations.begin(), quartile, durations.end());
  return static_cast<double>(*quartile);
}

// Times of one rank's host within the steps' window.
Index rows_within(const std::vector<TimeNs>& starts, RowRange rows, model::Interval window) {
  const auto begin = starts.begin();
  const auto from = std::lower_bound(begin + rows.begin, begin + rows.end, window.start);
  const auto to = std::lower_bound(from, begin + rows.end, window.end);
  return static_cast<Index>(to - from);
}

bool feeds_device(const model::RankTimeline& t, std::size_t thread) {
  if (thread == t.main_thread) return true;
  const RowRange calls = t.threads[thread].api_calls;
  for (Index c = calls.begin; c < calls.end; ++c) {
    if (t.api_calls.activity_count[c] > 0) return true;
  }
  return false;
}

// Events per step, and what the shares come to per operator.
void measure_per_op(const model::RankTimeline& t, const model::RankAnalysis& a, Dilation& d) {
  constexpr std::size_t kEnough = 100'000;  // events per thread
  const double steps = std::max<double>(1, static_cast<double>(a.steps.steps.size()));
  ProfilerTime taken{};
  double ops = 0;
  for (std::size_t i = 0; i < t.threads.size(); ++i) {
    if (!feeds_device(t, i)) continue;
    const model::Thread& thread = t.threads[i];
    d.ops_per_step += rows_within(t.host_ops.start, thread.host_ops, a.steps.window) / steps;
    d.calls_per_step += rows_within(t.api_calls.start, thread.api_calls, a.steps.window) / steps;
    d.python_calls_per_step += rows_within(t.python.start, thread.python, a.steps.window) / steps;
    std::size_t events = 0;
    TimeNs end = a.steps.window.start;
    for_each_event(t, thread, a.steps.window.start, [&](TimeNs start, TimeNs next) {
      if (start >= a.steps.window.end || ++events > kEnough) return false;
      const ProfilerTime time = profiler_time(d, next - start, false);
      for (std::size_t k = 0; k < time.size(); ++k) taken[k] += time[k];
      end = start;
      return true;
    });
    ops += rows_within(t.host_ops.start, thread.host_ops, {a.steps.window.start, end + 1});
  }
  if (ops <= 0) return;
  d.per_op_low_ns = taken[0] / ops;
  d.per_op_ns = taken[1] / ops;
  d.per_op_high_ns = taken[2] / ops;
}

// How much slower than the reference host; 1 within its own spread.
double host_speed(const model::RankTimeline& t) {
  const double trivial = trivial_op_ns(t);
  if (trivial <= 0) return 1;
  const double ratio = trivial / kReferenceTrivialOpNs;
  if (ratio < kReferenceSpread && ratio > 1 / kReferenceSpread) return 1;
  return std::clamp(ratio, 1 / kMaxSpeedRatio, kMaxSpeedRatio);
}

void set_facts(const Dilation& d, model::FactSet& facts) {
  const std::array<std::pair<FactId, double>, 2> numbers{{
      {FactId::kDilationPerOpNs, d.per_op_ns},
      {FactId::kDilationOpsPerStep, d.ops_per_step},
  }};
  for (const auto& [id, value] : numbers) {
    if (d.available) {
      facts.set(id, value);
    } else {
      facts.set_missing(id, d.unavailable);
    }
  }
  if (d.available) {
    facts.set_text(FactId::kDilationBasis, d.basis);
  } else {
    facts.set_missing(FactId::kDilationBasis, d.unavailable);
  }
}

}  // namespace

void estimate_dilation(const model::RankTimeline& t, model::RankAnalysis& a) {
  Dilation d;
  d.available = t.has_host_events();
  if (!d.available || t.run != nullptr) {
    d.available = false;
    d.unavailable =
        t.run != nullptr ? "recorded without a profiler" : "no host events were recorded";
    set_facts(d, a.facts);
    a.dilation = std::move(d);
    return;
  }
  const Setting shapes = setting(t.info.record_shapes, any_shapes(t));
  const Setting stack = setting(t.info.with_stack, t.python.size() > 0);
  const Setting memory = setting(t.info.profile_memory, t.memory.size() > 0);
  d.host_speed = host_speed(t);
  const double more = (shapes.on ? kShapesShare : 0) + (stack.on ? kStackShare : 0) +
                      (memory.on ? kMemoryShare : 0);
  d.share_low = kShare.low + more;
  d.share = kShare.middle + more;
  d.share_high = kShare.high + more;
  d.event_floor_ns = kEventFloorNs * d.host_speed;
  d.event_cap_ns = kEventCapNs * d.host_speed;
  d.input_event_cap_ns = kInputEventCapNs * d.host_speed;
  const auto say = [&d](std::string_view name, const Setting& s) {
    if (!d.basis.empty()) d.basis += ", ";
    d.basis.append(name).append(s.on ? " on" : " off").append(" (").append(s.from).append(")");
  };
  say("record_shapes", shapes);
  say("with_stack", stack);
  say("profile_memory", memory);
  measure_per_op(t, a, d);
  set_facts(d, a.facts);
  a.dilation = std::move(d);
}

}  // namespace pyrometer::analysis
