// Brings the clocks of ranks together by events that end on all of them at the same moment.
#pragma once

#include <vector>

#include "model/comm.h"

namespace pyrometer::analysis {

// The end of one collective as two ranks saw it, each on its own clock.
struct SharedEnd {
  model::TimeNs own = 0;
  model::TimeNs reference = 0;
};

struct ClockFit {
  model::ClockMap map;
  double spread_ns = 0;  // of what remains: 1.4826 × median absolute deviation
};

// Offset: median of (reference − own). A linear drift is added where the trace is long enough to
// show one: it must be no more than 100 ppm, move the ends by more than three times what remains as
// spread, and take away at least half of the spread. O(n log n). `ends` must not be empty.
[[nodiscard]] ClockFit fit_clock(const std::vector<SharedEnd>& ends);

// One collective as seen by two ranks, by position.
struct ClockLink {
  std::size_t a = 0, b = 0;     // a < b
  std::vector<SharedEnd> ends;  // own: of b, reference: of a
};

struct Clocks {
  std::vector<model::ClockMap> maps;  // by rank position, to the clock of rank 0
  double spread_ns = 0;               // largest spread of the links used
};

// Chains links into one clock. Where several ways lead to a rank, the ones with the most shared
// ends are used, of equal ones the first in `links`. Ranks that no link connects with rank 0 are
// marked as not known; those of them that are linked with each other still get one clock, that of
// the first.
[[nodiscard]] Clocks align_clocks(std::size_t ranks, const std::vector<ClockLink>& links);

}  // namespace pyrometer::analysis
