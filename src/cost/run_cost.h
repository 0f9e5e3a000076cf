// GPU time of whole recorded runs, and what they are made of, as money divides it.
#pragma once

#include <cstdint>
#include <optional>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::cost {

struct RunUsage {
  std::int64_t gpus = 0;
  model::DurationNs elapsed = 0;  // of the longest rank
  model::DurationNs gpu_time =
      0;  // start to end of each GPU, once however many ranks share it: billed
  // GPU time within steps, per unit; absent where the units are not known.
  std::optional<double> step_ns;    // per step of the job
  std::optional<double> sample_ns;  // per sample
  // Per epoch of the data loader, mean; only where there is no validation, whose loader has epochs
  // as well.
  std::optional<double> epoch_ns;
};

// Zero GPUs for traces, and where the run used none.
[[nodiscard]] RunUsage run_usage(const model::Timeline& timeline, const model::JobAnalysis& job);

}  // namespace pyrometer::cost
