// Finds the training steps and the analysed window.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills RankAnalysis::steps. Sources, first that gives steps: ProfilerStep markers, ends of
// Optimizer.step ranges, the repeating launch sequence. With markers the window runs from the first
// marker to the end of the last, device work of the last step included; with steps found in another
// way, from the start of the first to the end of the last; without steps, from the first to the
// last device activity (host events where there is none). Definition: docs/concepts/waterfall.md.
void find_steps(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
