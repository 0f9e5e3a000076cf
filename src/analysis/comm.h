// Communication of one rank: by collective and process group, exposed or hidden behind compute.
#pragma once

#include "analysis/interval_set.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Rank pass. Fills RankAnalysis::comm but for what needs other ranks (skew, last_arrival). Needs
// classes and steps. Definitions: docs/concepts/communication.md.
void find_communication(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// Moments at which a compute kernel (a kernel that does not communicate) runs on the device.
[[nodiscard]] IntervalSet compute_time(const model::RankTimeline& timeline,
                                       const model::RankAnalysis& analysis,
                                       const model::Device& device);

// The span that shares refer to: the window of the steps, else all device activity.
[[nodiscard]] model::Interval comm_window(const model::RankTimeline& timeline,
                                          const model::RankAnalysis& analysis);

// How often the gradients are reduced per optimizer step: 1 without gradient accumulation or with
// it under no_sync(), k when each of k backward passes reduces. Weighted by message bytes (by count
// where they are not given), so that small reductions of other kinds hardly count.
struct RepeatedReductions {
  double value = 0;          // valid when `missing` is empty
  std::string_view missing;  // why it could not be measured
};
[[nodiscard]] RepeatedReductions repeated_reductions(const model::RankTimeline& timeline,
                                                     const model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
