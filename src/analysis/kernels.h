// Pass `kernels`: device time by kernel and by class.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills RankAnalysis::kernels and the kernels.* facts. The tables hold the kernels that start in
// the window, with their full durations; facts that are shares of the window clip each kernel to
// it.
void tabulate_kernels(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// A kernel this short costs about as much to launch as to run.
inline constexpr model::DurationNs kShortKernelNs = 10'000;

}  // namespace pyrometer::analysis
