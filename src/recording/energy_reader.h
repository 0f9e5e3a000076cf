// The readings of energy meters that a recording holds, summed up over the run and over its steps.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/run.h"
#include "recording/damage.h"
#include "recording/database.h"
#include "recording/rows.h"

namespace pyrometer::recording {

// Fills run.energy, once run.span and run.steps are known: two series for each of the process's
// GPUs (the driver's counter, and the power that was polled), two for the machine.
[[nodiscard]] base::Result<void> read_energy(Database& database,
                                             const std::vector<DeviceRow>& devices,
                                             model::RecordedRun& run, Damage& damage);

}  // namespace pyrometer::recording
