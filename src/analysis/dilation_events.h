// Internal: the sequence of host events of one thread, and the profiler's time between two of them.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "model/timeline.h"
#include "model/what_if.h"

namespace pyrometer::analysis {

// The profiler's time at the low, middle and high estimate, ns.
using ProfilerTime = std::array<double, 3>;

// Of the time from one event to the next. `loading`: in the data loader's own work.
[[nodiscard]] inline ProfilerTime profiler_time(const model::Dilation& d, model::DurationNs spacing,
                                                bool loading) {
  const double room = std::max(0.0, static_cast<double>(spacing) - d.event_floor_ns);
  const std::array<double, 3> share{d.share_low, d.share, d.share_high};
  ProfilerTime time{};
  for (std::size_t k = 0; k < time.size(); ++k) {
    // Whether loops of the loader run any longer is least certain: from not at all to twice the
    // cap.
    const double cap = loading ? d.input_event_cap_ns * static_cast<double>(k) : d.event_cap_ns;
    time[k] = std::min(cap, share[k] * room);
  }
  return time;
}

// Calls visit(start, next start) for the host events of `thread` from `from` on, by time:
// operators, API calls and Python calls in one sequence. Ends when visit returns false.
template <typename Visit>
void for_each_event(const model::RankTimeline& t, const model::Thread& thread, model::TimeNs from,
                    Visit visit) {
  struct Source {
    const std::vector<model::TimeNs>* starts;
    model::Index at;
    model::Index end;
  };
  const auto source = [from](const std::vector<model::TimeNs>& starts, model::RowRange rows) {
    const auto first =
        std::lower_bound(starts.begin() + rows.begin, starts.begin() + rows.end, from);
    return Source{&starts, static_cast<model::Index>(first - starts.begin()), rows.end};
  };
  std::array<Source, 3> sources{source(t.host_ops.start, thread.host_ops),
                                source(t.api_calls.start, thread.api_calls),
                                source(t.python.start, thread.python)};
  constexpr model::TimeNs kNever = std::numeric_limits<model::TimeNs>::max();
  model::TimeNs previous = kNever;
  for (;;) {
    Source* next = nullptr;
    model::TimeNs start = kNever;
    for (Source& s : sources) {
      if (s.at == s.end || (*s.starts)[s.at] >= start) continue;
      start = (*s.starts)[s.at];
      next = &s;
    }
    if (next == nullptr) return;
    ++next->at;
    if (previous != kNever && !visit(previous, start)) return;
    previous = start;
  }
}

}  // namespace pyrometer::analysis
