#include "rules/allocator_calls_in_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "allocator.calls_in_step";
constexpr double kCritical = 0.2;
constexpr double kEveryOtherStep = 0.5;

analysis::Edit calls(double kept) {
  analysis::Edit edit;
  edit.alloc_calls = kept;
  return edit;
}

}  // namespace

void judge_allocator_calls_in_step(const Context& context, Judgement& judgement) {
  const auto mallocs = context.largest(FactId::kAllocatorMallocsPerStep);
  const auto frees = context.largest(FactId::kAllocatorFreesPerStep);
  if (!mallocs || !frees) {
    return not_judged(judgement, kId, context.missing(FactId::kAllocatorMallocsPerStep));
  }
  const OnRank& most = mallocs->value >= frees->value ? *mallocs : *frees;
  if (most.value < context.threshold(kId, "calls")) return;
  const model::FactSet& facts = context.job().ranks[most.position].facts;
  // Memory that only grows needs new blocks: the growth is the finding.
  if (frees->value < context.threshold(kId, "calls") &&
      facts.value_or(FactId::kMemoryGrowthPerStep, 0) >=
          context.threshold("memory.growth", "slope")) {
    return;
  }
  const double share = std::max(facts.value_or(FactId::kAllocatorShare, 0),
                                facts.value_or(FactId::kWaterfallIdleAlloc, 0));
  if (share < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = share >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share;
  finding.ranks = {context.timeline().ranks[most.position].info.rank};
  const bool emptied = facts.value_or(FactId::kAllocatorEmptiedPerStep, 0) >= kEveryOtherStep;
  finding.summary = fmt::format(
      "{:.1f} device allocations and {:.1f} frees per steady step take {} of the time{}.",
      mallocs->value, frees->value, percent(share),
      emptied ? "; the frees come in bursts outside any operator, as torch.cuda.empty_cache() "
                "makes them"
              : "");
  add_evidence(context, verdict, FactId::kAllocatorMallocsPerStep, mallocs->value, "calls");
  add_evidence(context, verdict, FactId::kAllocatorFreesPerStep, frees->value, "calls");
  add_evidence(context, verdict, FactId::kAllocatorShare, share, "share");
  if (emptied) {
    add_evidence(context, verdict, FactId::kAllocatorEmptiedPerStep,
                 facts.value_or(FactId::kAllocatorEmptiedPerStep, 0));
  }
  set_edits(verdict, calls(0), calls(0), calls(0.5),
            "the calls go; at worst half of their time stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
