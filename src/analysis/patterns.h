// Pass `patterns`: structure in time. What repeats within steps, and which steps stand out.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills Patterns (all but the critical path) and the patterns.* facts. Needs `classes`, `steps`,
// `kernels` and `launch`.
void find_patterns(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
