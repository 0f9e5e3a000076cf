// Random but plausible timelines for property tests.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "model/timeline_builder.h"

namespace pyrometer::testing {

struct RandomTimelineOptions {
  int devices = 1;
  int streams = 3;
  int launches = 60;
  int steps = 4;            // ProfilerStep markers; 0: none
  bool host_events = true;  // false: GPU only
  bool messy = false;       // overlapping rows on one stream, zero durations, lost launches
};

// Rows of one timeline in random order: each adds itself to a builder. Shuffle and replay them to
// test that the order of the input does not matter.
using Row = std::function<void(model::TimelineBuilder&)>;

[[nodiscard]] std::vector<Row> random_rows(std::mt19937_64& random,
                                           const RandomTimelineOptions& options);

[[nodiscard]] model::RankTimeline build(const std::vector<Row>& rows);

}  // namespace pyrometer::testing
