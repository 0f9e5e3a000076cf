// Reads the counters of a process and of the machine from a recording.
#pragma once

#include "base/result.h"
#include "model/run.h"
#include "recording/damage.h"
#include "recording/database.h"
#include "recording/names.h"

namespace pyrometer::recording {

// Fills `counters` and `texts` of a run. Memory is bounded by the number of series, not by the
// length of the run: long series are thinned (see CounterSummary).
[[nodiscard]] base::Result<void> read_counters(Database& database, const NameTable& names,
                                               std::int64_t process, model::RecordedRun& run,
                                               Damage& damage);

}  // namespace pyrometer::recording
