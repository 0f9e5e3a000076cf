// The profiler's own cost: what a trace's host time would be without it.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Rank pass: fills RankAnalysis::dilation and its facts. Needs the pass steps. Where the figures
// come from: docs/concepts/dilation.md.
void estimate_dilation(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
