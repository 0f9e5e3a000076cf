#include <algorithm>
#include <vector>

#include "cost/efficiency.h"
#include "model/run_totals.h"

namespace pyrometer::cost {
namespace {

using model::DurationNs;

DurationNs host_time(const model::RunTotals& totals, std::string_view kind) {
  for (const std::optional<model::HostTime>& time : totals.host) {
    if (time && time->kind == kind) return time->total;
  }
  return 0;
}

// What the first steps took longer than the usual one, as far as each is known by itself: kernels
// are loaded when they are first called, algorithms tried, memory taken.
DurationNs warm_up_of(const model::RecordedRun& run) {
  constexpr std::int64_t kSteps = 10;
  std::vector<DurationNs> usual;  // mean step of each row
  for (const model::RecordedStep& step : run.steps) {
    if (step.count > 0) usual.push_back(step.span.length() / step.count);
  }
  if (usual.size() < static_cast<std::size_t>(2 * kSteps)) return 0;
  const auto middle = usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2);
  std::nth_element(usual.begin(), middle, usual.end());
  DurationNs excess = 0;
  for (const model::RecordedStep& step : run.steps) {
    if (step.count == 0) continue;
    // Up to the first that is like the others.
    if (step.index >= kSteps || step.count != 1 || step.span.length() < *middle * 3 / 2) break;
    excess += std::max<DurationNs>(0, step.span.length() - *middle - step.input_wait);
  }
  return excess;
}

}  // namespace

Goodput goodput_of(const model::Timeline& timeline) {
  Goodput sum;
  for (const model::RankTimeline& rank : timeline.ranks) {
    if (rank.run == nullptr) {
      sum = {.missing = "a trace does not hold the whole run"};
      return sum;
    }
    const model::RunTotals totals = model::totals_of(*rank.run);
    if (totals.steps == 0 || !totals.before_first_step || !totals.after_last_step) {
      sum = {.missing = "no training steps were marked"};
      return sum;
    }
    const DurationNs startup = std::max<DurationNs>(0, *totals.before_first_step);
    const DurationNs after = std::max<DurationNs>(0, *totals.after_last_step);
    sum.elapsed += totals.wall;
    sum.startup += startup;
    sum.after += after;
    sum.between += std::max<DurationNs>(0, totals.wall - startup - after - totals.step_time);
    // Steps reach from one optimizer step to the next, so pauses lie within them. One that happens
    // inside another is taken off once more: what is left is useful at least.
    DurationNs left = totals.step_time;
    const auto take = [&left](DurationNs& target, DurationNs time) {
      time = std::clamp<DurationNs>(time, 0, left);
      target += time;
      left -= time;
    };
    take(sum.validation, host_time(totals, "validation"));
    take(sum.checkpoint, host_time(totals, "checkpoint"));
    take(sum.input, totals.input_wait);
    // Compilation is part of what makes first steps long: the larger of the two, not their sum.
    take(sum.setup,
         std::max(host_time(totals, "compile") + host_time(totals, "loader_start") - startup,
                  warm_up_of(*rank.run)));
    take(sum.pauses, host_time(totals, "gc") + host_time(totals, "logging"));
    sum.useful += left;
  }
  if (timeline.ranks.empty()) sum.missing = "no ranks";
  return sum;
}

}  // namespace pyrometer::cost
