// Whether the training waits for CPU time, and why. Each shortage has one reason, so that no two
// findings are about the same time.
#pragma once

#include <cstddef>

#include "rules/rule.h"

namespace pyrometer::rules {

enum class ShortOf : std::uint8_t {
  kNothing,   // no wait, or it is not known
  kQuota,     // the control group's quota holds the threads back
  kAffinity,  // few of the machine's CPUs may be used
  kOthers,    // other processes use the CPUs
  kOwn,       // the command's own threads and workers are more than the CPUs
};

struct CpuShortage {
  ShortOf reason = ShortOf::kNothing;
  std::size_t position = 0;  // the rank that waits most
  double main = 0;           // time for which its training thread was ready and had no CPU, 0–1
  double workers = 0;        // the same of its loader's workers, of their time
  double input = 0;          // part of the time in which the training waited for such workers
  double idle = 0;           // time in which the workers neither compute nor wait for a CPU, 0–1
  double fetch = 0;          // time in which it took batches that were there already
  double waits = 0;          // time in all its calls for a batch
  double ready = 0;          // threads of the command that were ready and had no CPU
  [[nodiscard]] double share() const { return main + input; }
};

[[nodiscard]] CpuShortage cpu_shortage(const Context& context);

// What is left when `part` (0–1) of the waits for a CPU go; nothing else gets faster.
[[nodiscard]] analysis::Edit without_waits(const CpuShortage& shortage, double part);

// Whether the command's threads that lack a CPU are for the most part the loader's workers, of
// which there are far more than CPUs.
[[nodiscard]] bool short_by_workers(const Context& context, const CpuShortage& shortage);

// Whether the shortage makes up most of a wait for input of `steady` of the time.
[[nodiscard]] bool explains_input(const CpuShortage& shortage, double steady);

// Steady part of the wait for batches of worker processes on a rank, of the time; 0 where the
// loader has no workers. What new iterators cost is not in it, nor are waits for batches that the
// workers had delivered already.
[[nodiscard]] double steady_input_wait(const Context& context, std::size_t position);

// The edit by which that part, and no more, of all waits for batches becomes `factor` times as
// long.
[[nodiscard]] analysis::Edit steady_wait_edit(const Context& context, std::size_t position,
                                              double factor);

}  // namespace pyrometer::rules
