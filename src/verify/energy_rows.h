// Energy of a run's GPUs next to the samples that it was spent on.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/run.h"
#include "verify/bootstrap.h"

namespace pyrometer::verify {

struct EnergyRows {
  // By rank: {J, samples} of each stretch between two readings of a meter. Whole GPUs, also what
  // other processes did there.
  std::vector<std::vector<Quotient>> rows;
  std::string missing;  // why there is nothing; "" where there is

  // J per sample over all of them; absent where it is missing.
  [[nodiscard]] std::optional<double> per_sample() const;
};

// Of one rank, which ran on `gpus` (ordinals); `steps`: those that count, warm-up left out. By the
// driver's counter where its readings cover at least half of their time, else by the power that was
// polled. Power counts as even between two readings, as do the samples of a step.
[[nodiscard]] EnergyRows energy_rows(const model::RecordedRun& run,
                                     const std::set<std::int32_t>& gpus, const Series& steps);

}  // namespace pyrometer::verify
