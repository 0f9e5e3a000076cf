#include "analysis/exposed.h"

#include <algorithm>
#include <limits>

#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::TimeNs;

struct Running {
  TimeNs end;
  Index row;
};

// The one that ends first is at the front of the heap.
bool ends_later(const Running& a, const Running& b) { return a.end > b.end; }

}  // namespace

std::vector<model::DurationNs> time_alone(const model::RankTimeline& t, const model::Device& device,
                                          model::Interval window) {
  const model::RowRange rows = device.activities;
  std::vector<model::DurationNs> alone(rows.size(), 0);
  std::vector<Running> running;
  TimeNs now = 0;
  // What runs alone between `now` and `until` gains that time.
  const auto advance = [&](TimeNs until) {
    while (!running.empty() && now < until) {
      const TimeNs next = std::min(until, running.front().end);
      if (running.size() == 1) {
        alone[running.front().row - rows.begin] += clipped(now, next, window);
      }
      now = next;
      while (!running.empty() && running.front().end <= now) {
        std::pop_heap(running.begin(), running.end(), ends_later);
        running.pop_back();
      }
    }
    now = until;
  };
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (t.activities.end[i] <= t.activities.start[i]) continue;
    advance(t.activities.start[i]);
    running.push_back({t.activities.end[i], i});
    std::push_heap(running.begin(), running.end(), ends_later);
  }
  advance(std::numeric_limits<TimeNs>::max());
  return alone;
}

}  // namespace pyrometer::analysis
