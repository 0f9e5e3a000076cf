// Pass `launch`: how well the host keeps the devices' queues filled.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills HostSide::launch (one row per device) and the launch.* facts. An activity is in the queue
// from the start of the call that launched it to its own end; one whose launch was not seen, from
// its start. Needs `classes` and `steps`.
void measure_launches(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
