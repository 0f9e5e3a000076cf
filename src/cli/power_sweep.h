// Power limits of GPUs as a dimension of `pyrometer tune`.
#pragma once

#include "base/result.h"
#include "cli/power_guard.h"
#include "sources/nvml/power_limits.h"
#include "tune/space.h"

namespace pyrometer::cli {

// From begin() to its end the limits of the visible GPUs are ours; then they are as they were.
class PowerSweep {
 public:
  // Errors: no right, no GPU, a value of the dimension that a GPU does not take. Call while there
  // are no other threads.
  [[nodiscard]] static base::Result<PowerSweep> begin(const tune::Dimension& dimension);

  [[nodiscard]] base::Result<void> set(double watts) { return limits_.set(watts); }
  // Puts them back. Error: with what to do by hand.
  [[nodiscard]] base::Result<void> end();

 private:
  PowerSweep(PowerGuard guard, sources::nvml::PowerLimits limits)
      : guard_(std::move(guard)), limits_(std::move(limits)) {}

  PowerGuard guard_;  // ends after the limits are put back
  sources::nvml::PowerLimits limits_;
};

}  // namespace pyrometer::cli
