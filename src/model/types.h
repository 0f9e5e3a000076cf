// Scalar types that every stage shares.
#pragma once

#include <cstdint>

namespace pyrometer::model {

using TimeNs = std::int64_t;  // a point in time, ns, on the rank's own clock unless said otherwise
using DurationNs = std::int64_t;  // ns
using NameId = std::uint32_t;     // index into RankTimeline::names; 0 is the empty string
using ThreadId = std::uint16_t;   // index into RankTimeline::threads
using DeviceId = std::uint16_t;   // index into RankTimeline::devices
using Index = std::uint32_t;      // row of a table

inline constexpr Index kNone = 0xFFFFFFFFu;

// Half-open [start, end), ns.
struct Interval {
  TimeNs start = 0;
  TimeNs end = 0;
  [[nodiscard]] DurationNs length() const { return end - start; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Rows [begin, end) of a table.
struct RowRange {
  Index begin = 0;
  Index end = 0;
  [[nodiscard]] Index size() const { return end - begin; }
};

}  // namespace pyrometer::model
