// Pass `memory_curve`: device memory over time, where the profiler recorded it.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills Transfers::memory (one curve per device) and the memory.* facts from the allocator's events
// ([memory] instants, recorded with profile_memory). Needs `steps`.
void measure_memory(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
