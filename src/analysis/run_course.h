// The course of a whole run: start, steps, end, and what was set for all of it.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Facts of catalog/facts/run_course.json, of recordings.
void measure_run_course(const model::RankTimeline& t, model::RankAnalysis& a);

}  // namespace pyrometer::analysis
