// Pass `ops`: which operators and annotations launch the device time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills HostSide::ops and the ops.* facts. Needs `steps`.
void measure_ops(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// Device time and activities that each API call launched, by row of api_calls. A graph launch has
// those of its whole graph.
struct LaunchedWork {
  explicit LaunchedWork(const model::RankTimeline& timeline);
  std::vector<model::DurationNs> time;
  std::vector<std::uint32_t> activities;
};

}  // namespace pyrometer::analysis
