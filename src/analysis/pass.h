// A pass computes results from a timeline. The list in registry.cpp is the order they run in.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

class WhatIf;

struct RunOptions {
  unsigned threads = 0;  // 0: one per core
  // Where given, receives the replay model that the passes built, which is as good as new. It
  // refers to the timeline and to the ranks of the analysis: both have to outlive it; the analysis
  // may be moved.
  std::unique_ptr<WhatIf>* what_if = nullptr;
};

// One of the three functions is set. A rank pass sees one rank and may run on any thread; a job
// pass sees all ranks; a wide one does too, and spreads its work over threads by itself. A pass
// reads the timeline and the results of passes before it, writes its own part of the analysis and
// its own facts, and touches nothing else. It never fails: what it cannot measure becomes a missing
// fact with the reason.
struct Pass {
  std::string_view name;  // the `source` of its facts in catalog/facts/<name>.json
  void (*rank)(const model::RankTimeline&, model::RankAnalysis&) = nullptr;
  void (*job)(const model::Timeline&, model::JobAnalysis&) = nullptr;
  void (*wide)(const model::Timeline&, model::JobAnalysis&, const RunOptions&) = nullptr;
};

[[nodiscard]] const std::vector<Pass>& all_passes();

// Runs every pass; consecutive rank passes of different ranks run in parallel.
[[nodiscard]] model::JobAnalysis run_passes(const model::Timeline& timeline,
                                            const RunOptions& options);

}  // namespace pyrometer::analysis
