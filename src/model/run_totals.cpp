#include "model/run_totals.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace pyrometer::model {
namespace {

struct Steps {
  std::int64_t samples = 0;
  bool samples_known = true;
  DurationNs input_wait = 0;
  TimeNs first = 0, last = 0;
};

Steps add_steps(const RecordedRun& run, RunTotals& all) {
  Steps sums;
  TimeNs counted_until = 0;
  std::set<std::int32_t> devices;
  for (const RecordedStep& step : run.steps) {
    if (step.count == 0) continue;
    all.used_device = all.used_device || step.device >= 0;
    if (step.device >= 0) devices.insert(step.device);
    for (std::size_t i = 0; i < kCauseCount && step.captured; ++i) all.causes[i] += step.causes[i];
    if (step.span.start < counted_until) continue;  // another device of the same step
    counted_until = step.span.end;
    if (all.steps == 0) sums.first = step.span.start;
    sums.last = step.span.end;
    all.steps += step.count;
    all.step_time += step.span.length();
    sums.input_wait += step.input_wait;
    sums.samples_known = sums.samples_known && step.samples >= 0;
    sums.samples += std::max<std::int64_t>(0, step.samples);
    if (step.captured) {
      all.watched_steps += step.count;
      all.watched_time += step.span.length();
    }
  }
  all.gpus = static_cast<std::int64_t>(devices.size());
  return sums;
}

std::optional<HostTime> host_time(const RecordedRun& run, std::string_view kind) {
  const auto found = std::find_if(run.regions.begin(), run.regions.end(),
                                  [kind](const RegionTotal& r) { return r.kind == kind; });
  if (found == run.regions.end() || found->count == 0) return std::nullopt;
  return HostTime{kind, found->count, found->total, found->longest};
}

}  // namespace

RunTotals totals_of(const RecordedRun& run) {
  RunTotals all;
  all.wall = run.span.length();
  const Steps sums = add_steps(run, all);
  if (sums.samples_known && sums.samples > 0 && all.step_time > 0) {
    constexpr double kSecond = 1e9;
    all.samples_per_s =
        static_cast<double>(sums.samples) * kSecond / static_cast<double>(all.step_time);
  }
  if (sums.samples_known && sums.samples > 0) all.samples = sums.samples;
  all.step_span = {sums.first, sums.last};
  all.input_wait = sums.input_wait;
  if (all.steps > 0 && run.span.start > 0) {
    all.before_first_step = sums.first - run.span.start;
    all.after_last_step = run.span.end - sums.last;
  }
  for (std::size_t i = 0; i < kHostTimeKinds.size(); ++i) {
    all.host[i] = host_time(run, kHostTimeKinds[i]);
  }
  // The steps have it, added up; how many waits there were they do not tell.
  if (sums.input_wait > 0) all.host.front() = HostTime{kHostTimeKinds.front(), -1, sums.input_wait};
  if (run.overhead.measured) {
    all.cost = run.overhead.ratio * run.overhead.duty + run.overhead.switching;
  }
  if (run.overhead.monitor_cpu > 0 && all.wall > 0) {
    all.monitor_share =
        static_cast<double>(run.overhead.monitor_cpu) / static_cast<double>(all.wall);
  }
  return all;
}

}  // namespace pyrometer::model
