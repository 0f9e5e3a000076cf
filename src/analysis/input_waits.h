// How the training thread waits for its data loader.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills Pauses::input, the facts of `input` and, where a new iterator starts its workers between
// two loader ranges, an inferred region for that stretch. Needs steps.
void measure_input_waits(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
