// The kernels.* facts, from the kernel table and the timeline.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Needs RankAnalysis::kernels.
void set_kernel_facts(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
