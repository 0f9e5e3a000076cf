#include "cost/run_cost.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "cost/used_gpus.h"
#include "model/run_totals.h"

namespace pyrometer::cost {
namespace {

const model::RegionTotal* region(const model::RecordedRun& run, std::string_view kind) {
  const auto at = std::find_if(run.regions.begin(), run.regions.end(),
                               [kind](const model::RegionTotal& r) { return r.kind == kind; });
  return at == run.regions.end() || at->count == 0 ? nullptr : &*at;
}

std::optional<double> mean_epoch(const model::RecordedRun& run) {
  const model::RegionTotal* epochs = region(run, "epoch");
  if (epochs == nullptr || region(run, "validation") != nullptr) return std::nullopt;
  return static_cast<double>(epochs->total) / static_cast<double>(epochs->count);
}

}  // namespace

RunUsage run_usage(const model::Timeline& timeline, const model::JobAnalysis& job) {
  RunUsage usage;
  const GpuShares shares(timeline, job);
  std::map<std::string, model::DurationNs> billed;  // by GPU: the longest rank on it
  std::int64_t samples = 0;
  double step_ns = 0, stepped_ns = 0, epoch_ns = 0;
  bool steps_known = true, samples_known = true, epochs_known = true;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const model::RankTimeline& rank = timeline.ranks[r];
    if (rank.run == nullptr) continue;
    const double gpus = shares.of(r);
    if (gpus == 0) continue;
    const model::RunTotals totals = model::totals_of(*rank.run);
    const double step_time = static_cast<double>(totals.step_time) * gpus;
    usage.elapsed = std::max(usage.elapsed, totals.wall);
    for (const std::string& gpu : shares.gpus(r)) {
      billed[gpu] = std::max(billed[gpu], totals.wall);
    }
    steps_known = steps_known && totals.steps > 0;
    if (totals.steps > 0) step_ns += step_time / static_cast<double>(totals.steps);
    stepped_ns += step_time;
    samples_known = samples_known && totals.samples;
    samples += totals.samples.value_or(0);
    const std::optional<double> epoch = mean_epoch(*rank.run);
    epochs_known = epochs_known && epoch;
    epoch_ns += epoch.value_or(0) * gpus;
  }
  usage.gpus = static_cast<std::int64_t>(billed.size());
  for (const auto& [gpu, time] : billed) usage.gpu_time += time;
  if (usage.gpus == 0) return usage;
  if (steps_known) usage.step_ns = step_ns;
  if (samples_known && samples > 0) usage.sample_ns = stepped_ns / static_cast<double>(samples);
  if (epochs_known) usage.epoch_ns = epoch_ns;
  return usage;
}

}  // namespace pyrometer::cost
