// In what state the devices were while the training made steps: clocks, links, errors, other users.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Facts "device.…", of recordings.
void measure_device_state(const model::RankTimeline& t, model::RankAnalysis& a);

}  // namespace pyrometer::analysis
