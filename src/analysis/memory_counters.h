// Device memory of a recorded run, from the allocator's statistics that the hook told once a
// second.
#pragma once

#include "analysis/window.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Sets the facts of the pass "memory_curve"; false where nothing was told. Readings are taken
// between steps: they show what steps leave, and the peaks inside of steps only as the highest of
// the whole run.
[[nodiscard]] bool measure_memory_counters(const model::RankTimeline& t, FactWriter& facts);

}  // namespace pyrometer::analysis
