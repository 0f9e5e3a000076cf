// A timeline as text: for comparing two of them, and for showing where they differ.
#pragma once

#include <string>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::testing {

// One line for each row of each table, in the tables' order, with names, threads, devices and
// details spelled out; links as row numbers. Two timelines are equal when their lines are: ids of
// names and rows of detail tables may differ.
[[nodiscard]] std::vector<std::string> timeline_lines(const model::RankTimeline& timeline);

// The timeline's counters, "kind=count", sorted by kind.
[[nodiscard]] std::vector<std::string> counter_lines(const model::RankTimeline& timeline);

}  // namespace pyrometer::testing
