// The profiler's own cost: what a trace's host time would be without it.
#pragma once

#include <array>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Rank pass: fills RankAnalysis::dilation and its facts. Needs the pass steps. Where the figures
// come from: docs/concepts/dilation.md.
void estimate_dilation(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// Profiler time per event of the host, ns.
struct ProfilerCost {
  double op = 0;
  double call = 0;
  double python = 0;
};

// The low, middle and high estimate.
[[nodiscard]] std::array<ProfilerCost, 3> profiler_costs(const model::Dilation& dilation);

// The profiler cannot have taken more of the time between two events than this share of it: the
// rest is the least that the events themselves need.
inline constexpr double kMaxProfilerShare = 0.6;

}  // namespace pyrometer::analysis
