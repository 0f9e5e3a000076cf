// Pass `allocator`: device memory allocated from the driver while the training runs.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills Transfers::allocator and the allocator.* facts. Needs `classes` and `steps`.
void measure_allocator(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
