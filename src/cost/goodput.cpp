#include <algorithm>

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
    take(sum.setup, host_time(totals, "compile") + host_time(totals, "loader_start") - startup);
    take(sum.pauses, host_time(totals, "gc") + host_time(totals, "logging"));
    sum.useful += left;
  }
  if (timeline.ranks.empty()) sum.missing = "no ranks";
  return sum;
}

}  // namespace pyrometer::cost
