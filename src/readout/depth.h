// What a metric costs to read.
#pragma once

#include <cstdint>

#include "sources/reading.h"

namespace pyrometer::readout {

using sources::MetricId;

// How much is read. Each takes longer than the one before it.
enum class Depth : std::uint8_t {
  kBrief,  // what a screen shows: calls that cost next to nothing
  kFull,   // every metric; those that need two samples are missing the first time
  kTwice,  // the first look samples twice, so that they are not
};
// The least that has the metric.
[[nodiscard]] Depth depth_for(MetricId metric);

}  // namespace pyrometer::readout
