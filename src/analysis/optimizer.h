// Pass `optimizer`: what the optimizer costs and how it works, from its Optimizer.step ranges.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Sets the optimizer.* and amp.* facts. Needs `classes` and `steps`.
void measure_optimizer(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
