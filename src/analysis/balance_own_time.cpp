// What one rank needs for itself, hidden behind waiting or not.

#include <algorithm>

#include "analysis/balance.h"
#include "analysis/comm.h"
#include "analysis/comm_calls.h"
#include "analysis/host_state.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::Interval;
using model::kNone;
using model::TimeNs;

// Time in which the device had nothing but communication to do because the host had not issued the
// next work yet. Where the host itself was blocked, it waited for the device (or for other ranks
// through it), which is not its own need.
void add_starved(const model::RankTimeline& t, const model::RankAnalysis& a,
                 const model::Device& device, Interval window, HostStates& hosts, OwnTime& own) {
  const model::ActivityTable& act = t.activities;
  TimeNs busy_end = window.start;
  for (Index i = device.activities.begin; i < device.activities.end; ++i) {
    if (act.end[i] <= act.start[i] || is_comm_kernel(t, a, i)) continue;
    if (busy_end >= window.end) return;
    const Index launch = act.launch[i];
    if (act.start[i] > busy_end && launch != kNone) {
      const TimeNs issued = std::min({t.api_calls.start[launch], act.start[i], window.end});
      hosts.split(t.api_calls.thread[launch], {busy_end, std::max(busy_end, issued)},
                  [&](HostState state, TimeNs from, TimeNs to) {
                    if (state == HostState::kInput) own.input += to - from;
                    if (state != HostState::kInput && state != HostState::kBlocked) {
                      own.host += to - from;
                    }
                  });
    }
    busy_end = std::max(busy_end, act.end[i]);
  }
}

}  // namespace

Interval balance_span(const model::RankTimeline& t, const model::RankAnalysis& a) {
  const Interval span = stepped_span(a.steps);
  return span.length() > 0 ? span : comm_window(t, a);
}

OwnTime own_time(const model::RankTimeline& t, const model::RankAnalysis& a) {
  OwnTime own;
  const Interval window = balance_span(t, a);
  HostStates hosts(t, a);
  for (const model::Device& device : t.devices) {
    const IntervalSet compute = clip(compute_time(t, a, device), window);
    IntervalSet copies;
    for (Index i = device.activities.begin; i < device.activities.end; ++i) {
      if (t.activities.kind[i] != model::ActivityKind::kKernel) {
        copies.add(t.activities.start[i], t.activities.end[i]);
      }
    }
    copies = clip(copies, window);
    own.compute += compute.length();
    own.copy += copies.length() - overlap_length(copies, compute);
    if (t.has_host_events()) add_starved(t, a, device, window, hosts, own);
  }
  return own;
}

}  // namespace pyrometer::analysis
