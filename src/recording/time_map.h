// Joins the kept windows of a run into one continuous time.
#pragma once

#include <vector>

#include "model/types.h"

namespace pyrometer::recording {

// Monotone map of the run's time: what lies within the windows keeps its length, what lies between
// them, before and after shrinks to a point. Analysed in mapped time, kept steps follow each other
// as if nothing had been left out.
class TimeMap {
 public:
  // Windows in any order, overlapping ones are joined; without any, the identity.
  explicit TimeMap(std::vector<model::Interval> windows = {});

  [[nodiscard]] model::TimeNs map(model::TimeNs time) const;
  // Whether a moment lies within a window.
  [[nodiscard]] bool keeps(model::TimeNs time) const;
  [[nodiscard]] const std::vector<model::Interval>& windows() const { return windows_; }

 private:
  std::vector<model::Interval> windows_;    // disjoint, by time
  std::vector<model::DurationNs> removed_;  // before the start of each window
};

}  // namespace pyrometer::recording
