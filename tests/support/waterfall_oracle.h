// The waterfall by its definition, moment by moment: slow, and written apart from the analysis.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::testing {

// The cause of the instant [time, time + 1 ns) on a device, per docs/concepts/waterfall.md.
[[nodiscard]] model::Cause cause_at(const model::RankTimeline& timeline,
                                    const model::RankAnalysis& analysis, model::DeviceId device,
                                    model::TimeNs time);

}  // namespace pyrometer::testing
