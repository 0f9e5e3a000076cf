// How well a job uses what its GPUs can do. Definitions: docs/concepts/cost.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cost/assumptions.h"
#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::cost {

// The dense peak of the arithmetic that a rank's matrix kernels really used.
struct Peak {
  double tflops = 0;   // of one GPU
  std::string dtype;   // "bf16", or "bf16 71%, fp32 29%": by time in matrix kernels
  std::string gpu;     // name
  std::string source;  // of the table
  bool verified = true;
};

struct PeakResult {
  std::optional<Peak> peak;
  std::string missing;  // why there is none
};

// One type where it has at least 90% of the matrix kernels' time; else the mean of the peaks,
// weighted by time. Missing where the GPU is unknown, or the arithmetic of more than a fifth of the
// time is.
[[nodiscard]] PeakResult peak_of(const model::RankTimeline& timeline,
                                 const model::RankAnalysis& analysis);

struct JobEfficiency {
  std::int64_t gpus = 0;
  std::optional<double> samples_per_s;  // all ranks, while steps ran
  std::optional<double> tokens_per_s;
  std::optional<double> flops_per_sample;
  std::string flops_source;              // where it comes from
  std::string flops_missing;             // "" where it is known
  std::optional<double> tflops_per_gpu;  // achieved, while steps ran
  std::optional<Peak> peak;              // mean over GPUs
  std::string peak_missing;
  std::optional<double> mfu;  // achieved ÷ peak
  std::string mfu_missing;
  // (samples/s × utilization) ÷ (peak samples/s × attainable utilization).
  std::optional<double> utilization;         // share of the GPUs' time in which something ran
  std::optional<double> attainable;          // the same once all fixes that are predicted are made
  std::optional<double> peak_samples_per_s;  // GPU FLOP/s ÷ FLOPs per sample, all GPUs
  std::optional<double> eta;
  bool impossible = false;  // MFU or eta above 1: peak, FLOPs or samples are wrong
};

[[nodiscard]] JobEfficiency efficiency_of(const model::Timeline& timeline,
                                          const model::JobAnalysis& job,
                                          const model::Diagnosis& diagnosis,
                                          const Assumptions& assumptions);

// Where the time of recorded runs went, summed over ranks. The parts add up to `elapsed`.
struct Goodput {
  model::DurationNs elapsed = 0;
  model::DurationNs useful = 0;   // within steps, but for what follows
  model::DurationNs startup = 0;  // before the first step
  // Compilation and starting loaders beyond that, or what the first steps took longer than the
  // usual one (kernels loaded at their first call, algorithms tried), whichever is more.
  model::DurationNs setup = 0;
  model::DurationNs input = 0;  // waiting for data within steps
  model::DurationNs checkpoint = 0;
  model::DurationNs validation = 0;
  model::DurationNs pauses = 0;   // garbage collection and logging
  model::DurationNs between = 0;  // neither in a step nor before or after them
  model::DurationNs after = 0;    // after the last step
  std::string missing;            // why nothing is known
  [[nodiscard]] double share(model::DurationNs part) const {
    return elapsed > 0 ? static_cast<double>(part) / static_cast<double>(elapsed) : 0;
  }
};

[[nodiscard]] Goodput goodput_of(const model::Timeline& timeline);

}  // namespace pyrometer::cost
