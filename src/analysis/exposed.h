// Time in which one activity ran alone on its device.
#pragma once

#include <vector>

#include "model/timeline.h"

namespace pyrometer::analysis {

// For each activity of the device, the time within `window` in which no other activity of the
// device ran; by position within device.activities. O(n log k) for k concurrent activities.
[[nodiscard]] std::vector<model::DurationNs> time_alone(const model::RankTimeline& timeline,
                                                        const model::Device& device,
                                                        model::Interval window);

}  // namespace pyrometer::analysis
