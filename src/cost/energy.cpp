#include "cost/energy.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cost/used_gpus.h"
#include "model/run_totals.h"

namespace pyrometer::cost {
namespace {

using model::EnergySeries;

// Of the steps' time, what readings have to cover before a mean power stands for it.
constexpr double kEnoughCovered = 0.5;

const EnergySeries* series_of(const model::RecordedRun& run, std::string_view meter,
                              std::int32_t device) {
  const auto at = std::find_if(
      run.energy.begin(), run.energy.end(),
      [&](const EnergySeries& series) { return series.meter == meter && series.device == device; });
  return at == run.energy.end() ? nullptr : &*at;
}

bool has_figures(const EnergySeries* series) {
  return series != nullptr && series->missing.empty() && series->span.length() > 0;
}

double watts(const EnergySeries& series) {
  return series.joules / static_cast<double>(series.span.length());  // J per ns
}

GpuEnergy gpu_energy(const model::RecordedRun& run, const model::RunTotals& totals,
                     std::int32_t rank, std::int32_t ordinal) {
  GpuEnergy gpu{.rank = rank, .ordinal = ordinal};
  const EnergySeries* counter = series_of(run, "counter", ordinal);
  const EnergySeries* polled = series_of(run, "polled", ordinal);
  if (has_figures(counter)) {
    gpu.counter_j = counter->joules;
    gpu.covered = counter->span.length();
  }
  if (has_figures(polled)) {
    gpu.polled_j = polled->joules;
    if (gpu.counter_j) {
      gpu.polled_j = watts(*polled) * static_cast<double>(gpu.covered);
      gpu.diverges = std::abs(*gpu.polled_j - *gpu.counter_j) > kDivergence * *gpu.counter_j;
    } else {
      gpu.covered = polled->span.length();
    }
  }
  const EnergySeries* basis = gpu.counter_j ? counter : polled;
  if (!gpu.joules()) {
    gpu.missing = counter != nullptr && !counter->missing.empty()
                      ? counter->missing
                      : "the recording has no readings of energy";
    return gpu;
  }
  const auto steps_time = static_cast<double>(totals.step_span.length());
  const auto covered = static_cast<double>(basis->step_span.length());
  if (totals.steps > 0 && covered > 0 && covered >= kEnoughCovered * steps_time) {
    gpu.step_j = basis->step_joules / covered * steps_time / static_cast<double>(totals.steps);
  }
  return gpu;
}

void add_host(const model::RecordedRun& run, JobEnergy& energy) {
  const auto add = [&](std::string_view meter, std::optional<double>& target) {
    const EnergySeries* series = series_of(run, meter, -1);
    if (has_figures(series)) target = target.value_or(0) + series->joules;
    return series == nullptr ? "the recording has no such readings" : series->missing;
  };
  const std::string why = add("cpu", energy.cpu_j);
  if (!why.empty()) energy.host_missing = why;
  static_cast<void>(add("memory", energy.memory_j));
}

void add_carbon(const Assumptions& assumptions, JobEnergy& energy) {
  if (!energy.gpu_j) {
    energy.carbon_missing = "the energy is not known";
    return;
  }
  // A machine whose CPUs are not metered counts with its GPUs alone.
  energy.total_j = *energy.gpu_j + energy.cpu_j.value_or(0) + energy.memory_j.value_or(0);
  if (!assumptions.grid_g_per_kwh) {
    energy.carbon_missing = "no carbon intensity of the grid was given";
    return;
  }
  constexpr double kGramsPerKg = 1000;
  energy.carbon_kg = *energy.total_j / kJoulesPerKwh * assumptions.pue.value_or(1) *
                     *assumptions.grid_g_per_kwh / kGramsPerKg;
}

}  // namespace

JobEnergy energy_of(const model::Timeline& timeline, const model::JobAnalysis& job,
                    const Assumptions& assumptions) {
  JobEnergy energy;
  std::set<std::pair<std::string, std::string>> seen;  // a GPU that ranks share counts once
  std::set<std::string> machines;                      // each has a recording of its own
  std::int64_t samples = 0;
  double gpu_j = 0, step_j = 0, sampled_j = 0;
  bool all_known = true, steps_known = true, samples_known = true;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const model::RankTimeline& rank = timeline.ranks[r];
    if (rank.run == nullptr) continue;
    const model::RunTotals totals = model::totals_of(*rank.run);
    energy.elapsed = std::max(energy.elapsed, totals.wall);
    for (const std::int32_t ordinal : used_gpus(rank, job.ranks[r])) {
      const EnergySeries* series = series_of(*rank.run, "counter", ordinal);
      const std::string object = series == nullptr ? "" : series->object;
      if (!object.empty() && !seen.emplace(rank.info.file, object).second) continue;
      GpuEnergy gpu = gpu_energy(*rank.run, totals, rank.info.rank, ordinal);
      all_known = all_known && gpu.joules();
      steps_known = steps_known && gpu.step_j;
      gpu_j += gpu.joules().value_or(0);
      step_j += gpu.step_j.value_or(0);
      sampled_j += gpu.step_j.value_or(0) * static_cast<double>(totals.steps);
      energy.all_by_counter = energy.all_by_counter && gpu.counter_j;
      energy.diverges = energy.diverges || gpu.diverges;
      if (energy.gpu_missing.empty()) energy.gpu_missing = gpu.missing;
      energy.gpus.push_back(std::move(gpu));
    }
    samples_known = samples_known && totals.samples;
    samples += totals.samples.value_or(0);
    if (machines.insert(rank.info.file).second) add_host(*rank.run, energy);
  }
  if (!energy.host_missing.empty()) energy.cpu_j = energy.memory_j = std::nullopt;
  if (machines.empty()) energy.host_missing = "only recordings have energy";
  if (energy.gpus.empty()) {
    energy.gpu_missing = machines.empty() ? "only recordings have energy" : "no GPU was used";
  } else if (all_known) {
    energy.gpu_j = gpu_j;
    if (steps_known) energy.step_j = step_j;
    if (steps_known && samples_known && samples > 0) {
      energy.sample_j = sampled_j / static_cast<double>(samples);
    }
  }
  add_carbon(assumptions, energy);
  return energy;
}

}  // namespace pyrometer::cost
