// The busy part of the waterfall: what runs on one device at each moment.
#pragma once

#include <vector>

#include "analysis/layers.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Disjoint, by time; each moment has the cause of what runs then: compute before communication
// before copies, among concurrent ones the earliest started. Moments not covered are gaps.
// Activities of zero length do not run at any moment and are left out.
[[nodiscard]] std::vector<Labelled<model::Cause>> busy_segments(const model::RankTimeline& timeline,
                                                                const model::RankAnalysis& analysis,
                                                                const model::Device& device);

}  // namespace pyrometer::analysis
