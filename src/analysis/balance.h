// Balance between ranks: who is waited for, and what that rank does longer than the others.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Job pass; needs the waterfalls and `comm_match`. Fills balance, slow_rank, slow_cause and
// imbalance of JobAnalysis::cross. Definitions: docs/concepts/communication.md.
void compare_ranks(const model::Timeline& timeline, model::JobAnalysis& job);

// What ranks are compared over: the steps, else the window.
[[nodiscard]] model::Interval balance_span(const model::RankTimeline& timeline,
                                           const model::RankAnalysis& analysis);

// What a rank needs for itself over that span, ns, summed over devices; see RankBalanceRow.
struct OwnTime {
  model::DurationNs compute = 0;
  model::DurationNs copy = 0;
  model::DurationNs input = 0;
  model::DurationNs host = 0;
};
[[nodiscard]] OwnTime own_time(const model::RankTimeline& timeline,
                               const model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
