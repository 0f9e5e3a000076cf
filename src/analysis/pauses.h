// Pauses that a trace does not name: recognised by their pattern.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Adds to Pauses::inferred (by time, disjoint) and sets the facts of `pauses`:
// - checkpoints: at least 8 device-to-host copies of 1 MiB or more in all with no kernel launched
//   between them, and the time until the device is fed again, when at least 5 ms of it is outside
//   operators and calls and outweighs operators (torch.save copies and writes); it begins where the
//   state is walked and pickled, before the first copy, as far as operators tell;
// - statistics on the host: the same, when operators on the copies outweigh the rest (histograms,
//   metrics of parameters): counted as logging;
// - compilation: from the first to the last of the markers that carry one compile_id.
// Needs steps, classes, waterfall, input_waits.
void find_pauses(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
