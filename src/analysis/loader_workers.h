// What the data loader's worker processes did while the training made steps.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Facts "workers.…", of recordings. Workers are told by what lives, not by what was configured:
// children of the training process that bear its name (or PyTorch's name for workers) and are not
// small helpers.
void measure_loader_workers(const model::RankTimeline& t, model::RankAnalysis& a);

}  // namespace pyrometer::analysis
