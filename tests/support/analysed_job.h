// Runs the passes that communication needs, in the registry's order, on a job.
#pragma once

#include "analysis/balance.h"
#include "analysis/comm.h"
#include "analysis/comm_match.h"
#include "analysis/kernel_classes.h"
#include "analysis/steps.h"
#include "analysis/waterfall.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::testing {

inline model::JobAnalysis analysed_job(const model::Timeline& timeline) {
  model::JobAnalysis job;
  job.ranks.resize(timeline.ranks.size());
  const auto on_ranks = [&](void (*pass)(const model::RankTimeline&, model::RankAnalysis&)) {
    for (std::size_t r = 0; r < job.ranks.size(); ++r) pass(timeline.ranks[r], job.ranks[r]);
  };
  on_ranks(analysis::classify_names);
  on_ranks(analysis::find_steps);
  on_ranks(analysis::find_communication);
  analysis::match_collectives(timeline, job);
  on_ranks(analysis::compute_waterfall);
  analysis::sum_waterfalls(timeline, job);
  analysis::compare_ranks(timeline, job);
  return job;
}

}  // namespace pyrometer::testing
