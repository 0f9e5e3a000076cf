// A small simulated data-parallel job: several ranks whose collectives depend on each other, with
// the truth about who waited for whom.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "model/timeline.h"
#include "tests/support/random_timeline.h"

namespace pyrometer::testing {

struct SimulatedRank {
  std::int32_t rank = 0;
  double compute_scale = 1;          // its kernels take this much longer
  model::DurationNs host_delay = 0;  // extra host time per step
  model::DurationNs clock = 0;       // its clock minus the true time
  double drift = 0;                  // its clock gains this much per ns
  int head = 0;                      // collectives missing at the beginning of its trace
  int tail = 0;                      // and at the end
  int holes_pct = 0;                 // chance of each other one to be missing
};

enum class CommDetails { kNone, kSizes, kNumbers };

struct SimulatedJobOptions {
  int steps = 6;
  int collectives = 5;  // per step
  bool markers = true;  // ProfilerStep ranges
  CommDetails details = CommDetails::kSizes;
  model::DurationNs end_jitter = 8'000;
  model::DurationNs kernel_time = 800'000;
  int backward_passes = 1;  // per optimizer step, each with its reductions
  bool no_sync = false;     // only the last of them reduces
};

struct SimulatedJob {
  std::vector<std::vector<Row>> rows;  // by rank; replay and build() each, in any order
  // True time at which each rank arrived at each collective, by rank, then by collective; and
  // whether its kernel is in the rank's trace.
  std::vector<std::vector<model::TimeNs>> arrivals;
  std::vector<std::vector<bool>> seen;
};

[[nodiscard]] SimulatedJob simulate_job(std::mt19937_64& random,
                                        const std::vector<SimulatedRank>& ranks,
                                        const SimulatedJobOptions& options);

// Builds every rank's timeline; ranks in the given order.
[[nodiscard]] model::Timeline build_job(const SimulatedJob& job,
                                        const std::vector<SimulatedRank>& ranks);

}  // namespace pyrometer::testing
