// The links of a sorted RankTimeline, resolved once at the end of its building.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::model {

// activities.launch, api_calls.first_activity and activity_count. `correlation` by activity row; 0
// links to nothing. Where several calls carry one correlation, an activity belongs to the last of
// them that starts no later than the activity, else to the first.
void link_launches(RankTimeline& timeline, const std::vector<std::uint64_t>& correlation);

// host_ops.parent and api_calls.op, by containment in time on the same thread.
void link_nesting(RankTimeline& timeline);

// The thread that runs the training loop: the one with ProfilerStep markers, else the process's
// first thread (tid = pid), else the one with most annotations, else the earliest to act.
[[nodiscard]] ThreadId find_main_thread(const RankTimeline& timeline);

}  // namespace pyrometer::model
