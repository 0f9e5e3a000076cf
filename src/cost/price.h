// What GPU time costs. Definitions and examples: docs/concepts/cost.md.
//
// Only the job's own GPUs count: the devices on which its ranks were seen to run. Money is worked
// out from exact sums of integer nanoseconds and is never summed itself. Without a price there is
// no money, only shares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/analysis.h"
#include "model/finding.h"

namespace pyrometer::cost {

struct Price {
  double usd_per_gpu_hour = 0;  // finite, ≥ 0
  std::string source;           // where it was given: "--price", or the config file's path
};

// What the job used in the analysed windows.
struct Usage {
  std::int64_t gpus = 0;           // devices with a waterfall, over all ranks
  model::DurationNs gpu_time = 0;  // their windows, summed; equals the sum of all causes
  // Steps' worth of time of a rank (Steps::worth) × its devices, summed; 0: no steps known.
  double gpu_steps = 0;
  // GPU time within steps, by cause. The window can reach further than the steps where they were
  // found without markers.
  model::CauseTimes step_causes{};
  // Time that one GPU spends on one step, mean over ranks and steps; absent without steps.
  [[nodiscard]] std::optional<double> step_ns() const;
};

[[nodiscard]] Usage usage_of(const model::JobAnalysis& job);

// USD for an amount of GPU time (ns × devices).
[[nodiscard]] double usd(double gpu_ns, const Price& price);

// USD per day for a share (0–1) of the time of `gpus` GPUs that run all day.
[[nodiscard]] double usd_per_day(double share, std::int64_t gpus, const Price& price);

// USD for 1000 steps that keep `gpus` GPUs for `step_ns` each.
[[nodiscard]] double usd_per_1000_steps(double step_ns, std::int64_t gpus, const Price& price);

struct Range {
  double low = 0;
  double high = 0;
};

// What a fix gives back: the part of the step that goes away, without the profiler's cost. From the
// worst to the best case of the prediction; a case that is no faster than now saves nothing.
struct Saving {
  Range share;  // of the step time, 0–1
  Range step_ns;
};

[[nodiscard]] Saving saving_of(const model::Prediction& prediction);

}  // namespace pyrometer::cost
