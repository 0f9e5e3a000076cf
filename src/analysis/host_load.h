// Whether the training gets the CPU time and the memory that it asks for.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Facts "host.…", of recordings.
void measure_host_load(const model::RankTimeline& t, model::RankAnalysis& a);

}  // namespace pyrometer::analysis
