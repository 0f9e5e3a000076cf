// Energy and carbon of a recorded job. Definitions: docs/concepts/cost.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/assumptions.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::cost {

// One of the job's GPUs over the run. The whole GPU is metered, also what other processes did
// there.
struct GpuEnergy {
  std::int32_t rank = 0;
  std::int32_t ordinal = 0;  // as the process sees it
  std::optional<double> counter_j;
  std::optional<double> polled_j;  // scaled to the time of the counter's readings, where both are
  model::DurationNs covered = 0;   // time between the first and the last reading
  std::optional<double> step_j;    // per step of the rank
  bool diverges = false;           // counter and polled power differ by more than kDivergence
  std::string missing;             // why neither is known

  // The counter, and where it is missing the power that was polled.
  [[nodiscard]] std::optional<double> joules() const { return counter_j ? counter_j : polled_j; }
};

// Beyond that counter and polled power are flagged. Power is read once a second, newer GPUs report
// a one-second mean, and gaps of more than 10 s count nothing: bursts and long gaps differ.
inline constexpr double kDivergence = 0.10;

struct JobEnergy {
  std::vector<GpuEnergy> gpus;
  std::optional<double> gpu_j;  // all of the job's GPUs; absent where one is not known
  bool all_by_counter = true;
  bool diverges = false;         // of any GPU
  std::optional<double> step_j;  // GPUs, per step of the job
  std::optional<double> sample_j;
  std::string gpu_missing;
  // The machines, other jobs on them included.
  std::optional<double> cpu_j, memory_j;
  std::string host_missing;
  model::DurationNs elapsed = 0;  // the longest run of a rank
  // GPUs, and CPUs with their memory where known; at the plug of the computer, without PUE.
  std::optional<double> total_j;
  std::optional<double> carbon_kg;  // CO2e: total × PUE (1 where none is given) × grid
  std::string carbon_missing;
};

inline constexpr double kJoulesPerKwh = 3.6e6;

// Only recordings have energy.
[[nodiscard]] JobEnergy energy_of(const model::Timeline& timeline, const model::JobAnalysis& job,
                                  const Assumptions& assumptions);

}  // namespace pyrometer::cost
