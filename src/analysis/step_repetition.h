// Steps from the repeating launch sequence, for traces without any marker.
#pragma once

#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Times at which an iteration begins, ascending; empty when no sequence repeats at least three
// times over most of the run. Times are those of launches where they were seen, else of activities.
[[nodiscard]] std::vector<model::TimeNs> repetition_boundaries(const model::RankTimeline& timeline,
                                                               const model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
