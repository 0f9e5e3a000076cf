// Pass `copies`: transfers by direction and kind of host memory.
#pragma once

#include <cstdint>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills Transfers::copies and the copies.* facts but those of host-created tensors. Rows hold the
// copies that start in the window with their full durations; shares of the window are clipped.
// Needs `steps`.
void measure_copies(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// Smaller copies are bound by latency, not by bandwidth.
inline constexpr std::int64_t kSmallCopyBytes = 64 * 1024;

// The bytes of a copy or memset, -1 when the trace does not give them.
[[nodiscard]] std::int64_t copy_bytes(const model::RankTimeline& timeline, model::Index activity);

}  // namespace pyrometer::analysis
