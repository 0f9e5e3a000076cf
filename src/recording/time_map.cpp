#include "recording/time_map.h"

#include <algorithm>

namespace pyrometer::recording {

using model::Interval;
using model::TimeNs;

TimeMap::TimeMap(std::vector<Interval> windows) {
  std::sort(windows.begin(), windows.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (const Interval& window : windows) {
    if (window.length() <= 0) continue;
    if (!windows_.empty() && window.start <= windows_.back().end) {
      windows_.back().end = std::max(windows_.back().end, window.end);
    } else {
      windows_.push_back(window);
    }
  }
  model::DurationNs removed = 0;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (i > 0) removed += windows_[i].start - windows_[i - 1].end;
    removed_.push_back(removed);
  }
}

TimeNs TimeMap::map(TimeNs time) const {
  if (windows_.empty()) return time;
  const auto after = std::upper_bound(windows_.begin(), windows_.end(), time,
                                      [](TimeNs t, const Interval& w) { return t < w.start; });
  if (after == windows_.begin()) return windows_.front().start;
  const auto index = static_cast<std::size_t>(after - windows_.begin()) - 1;
  return std::min(time, windows_[index].end) - removed_[index];
}

bool TimeMap::keeps(TimeNs time) const {
  if (windows_.empty()) return true;
  const auto after = std::upper_bound(windows_.begin(), windows_.end(), time,
                                      [](TimeNs t, const Interval& w) { return t < w.start; });
  return after != windows_.begin() && time < (after - 1)->end;
}

}  // namespace pyrometer::recording
