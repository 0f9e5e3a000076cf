#include "analysis/replay_pass.h"

#include <array>
#include <utility>

#include "analysis/what_if.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;

void set_facts(const model::ReplayBaseline& b, model::FactSet& facts) {
  const std::array<std::pair<FactId, double>, 6> values{{
      {FactId::kReplayError, b.error},
      {FactId::kReplayStepNs, b.replayed_ns},
      {FactId::kReplayStepCorrectedNs, b.corrected_ns},
      {FactId::kReplayStepCorrectedLowNs, b.corrected_low_ns},
      {FactId::kReplayStepCorrectedHighNs, b.corrected_high_ns},
      {FactId::kDilationStepShare, b.replayed_ns > 0 ? 1 - b.corrected_ns / b.replayed_ns : 0},
  }};
  for (const auto& [id, value] : values) {
    if (b.available) {
      facts.set(id, value);
    } else {
      facts.set_missing(id, b.unavailable);
    }
  }
}

}  // namespace

void replay_steps(const model::Timeline& timeline, model::JobAnalysis& job,
                  const RunOptions& options) {
  auto model = std::make_unique<WhatIf>(timeline, job, options.threads);
  const WhatIf& what_if = *model;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    job.ranks[r].replay = what_if.rank_baseline(r);
    set_facts(job.ranks[r].replay, job.ranks[r].facts);
  }
  set_facts(what_if.baseline(), job.facts);
  if (options.what_if != nullptr) *options.what_if = std::move(model);
}

}  // namespace pyrometer::analysis
