// The waterfall: gives every nanosecond of every device exactly one cause.
#pragma once

#include <vector>

#include "analysis/host_state.h"
#include "analysis/layers.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Fills RankAnalysis::waterfall. Needs classes, steps and, where ranks were matched,
// CommTable::last_arrival. Definition and invariants: docs/concepts/waterfall.md.
void compute_waterfall(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// The same for a given window; steps are spans whose own sums are wanted, in time order.
[[nodiscard]] model::RankWaterfall waterfall_of(const model::RankTimeline& timeline,
                                                const model::RankAnalysis& analysis,
                                                model::Interval window,
                                                const std::vector<model::Interval>& steps);

// Job pass: adds the ranks up.
void sum_waterfalls(const model::Timeline& timeline, model::JobAnalysis& job);

// The cause of idle time that the feeding thread's state stands for.
[[nodiscard]] model::Cause cause_of_host(HostState state);

// The cause that a running kernel stands for.
[[nodiscard]] model::Cause cause_of_kernel(model::KernelTraits traits);

}  // namespace pyrometer::analysis
