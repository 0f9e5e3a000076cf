#include "cli/power_sweep.h"

#include <utility>

#include "sources/nvml/visible_gpus.h"

namespace pyrometer::cli {

base::Result<PowerSweep> PowerSweep::begin(const tune::Dimension& dimension) {
  auto guard = PowerGuard::start();
  if (!guard) return base::fail(guard.error());
  auto limits =
      sources::nvml::PowerLimits::open(sources::nvml::open_nvml, sources::nvml::visible_gpus());
  if (!limits) return base::fail(limits.error());
  for (const double watts : dimension.numbers) {
    if (auto taken = limits->check(watts); !taken) return base::fail(taken.error());
  }
  const auto told = guard->remember(sources::nvml::text_of(limits->gpus()));
  if (!told) return base::fail(told.error());
  return PowerSweep(std::move(*guard), std::move(*limits));
}

base::Result<void> PowerSweep::end() {
  auto restored = limits_.restore();
  if (restored) guard_.dismiss();
  return restored;
}

}  // namespace pyrometer::cli
