// The pass that replays the steps unchanged and without the profiler's cost.
#pragma once

#include "analysis/pass.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Wide pass: fills RankAnalysis::replay and its facts, and the job's. Needs classes, steps,
// dilation and, for several ranks, comm_match.
void replay_steps(const model::Timeline& timeline, model::JobAnalysis& job,
                  const RunOptions& options);

}  // namespace pyrometer::analysis
