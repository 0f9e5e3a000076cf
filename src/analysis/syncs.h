// Pass `syncs`: where the host waits for the device, and what that costs.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills HostSide::syncs and the syncs.* facts. Synchronize calls and blocking copies always count;
// an asynchronous copy counts when its call lasted until the device had got to it, as copies from
// and to pageable memory do. The profiler's own synchronisation when it stops does not count.
// Needs `classes` and `steps`.
void measure_syncs(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
