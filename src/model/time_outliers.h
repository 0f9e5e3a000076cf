// Rows whose time cannot be right.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::model {

// Leaves out rows that lie absurdly far from all others (a time stamp of 0, a damaged digit), for
// they would stretch the window to years, and counts them in the stats. `correlation` is a column
// of the activities. Call before the tables are sorted.
void drop_time_outliers(RankTimeline& timeline, std::vector<std::uint64_t>& correlation);

}  // namespace pyrometer::model
