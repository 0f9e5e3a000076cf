// The chain of work and waiting that made one step as long as it was.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Rank pass: fills Patterns::critical_path for the step of median length. Walks back from the end
// of the step along the constraint that bound: stream order, the launch, another stream, what a
// blocking call waited for, the host's own order. The segments tile the step's span exactly. Left
// empty (step = kNone) where the steps cannot be replayed. Needs classes, steps, dilation, input,
// pauses.
void find_critical_path(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// The same for one step, by position in Steps::steps.
[[nodiscard]] model::CriticalPath critical_path_of(const model::RankTimeline& timeline,
                                                   const model::RankAnalysis& analysis,
                                                   model::Index step);

}  // namespace pyrometer::analysis
