// The part of a recording that tells of the whole run: RecordedRun of each process.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/run.h"
#include "recording/damage.h"
#include "recording/database.h"
#include "recording/names.h"
#include "recording/rows.h"

namespace pyrometer::recording {

[[nodiscard]] base::Result<model::RecordedRun> read_run(Database& database, const NameTable& names,
                                                        const ProcessRow& process,
                                                        const std::vector<DeviceRow>& devices,
                                                        Damage& damage);

}  // namespace pyrometer::recording
