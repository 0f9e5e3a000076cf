#include "rules/memory_use.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

const model::FactSet& facts_of(const Context& context, const OnRank& at) {
  return context.job().ranks[at.position].facts;
}

std::int32_t rank_of(const Context& context, const OnRank& at) {
  return context.timeline().ranks[at.position].info.rank;
}

}  // namespace

void judge_memory_fragmentation(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "memory.fragmentation";
  const auto ratio = context.largest(FactId::kMemoryReservedRatio);
  if (!ratio) return not_judged(judgement, kId, context.missing(FactId::kMemoryReservedRatio));
  if (ratio->value < context.threshold(kId, "ratio")) return;
  const model::FactSet& facts = facts_of(context, *ratio);
  const auto reserved = facts.value(FactId::kMemoryPeakReservedFraction);
  if (!reserved) {
    return not_judged(judgement, kId, context.missing(FactId::kMemoryPeakReservedFraction));
  }
  if (*reserved < context.threshold(kId, "reserved")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.ranks = {rank_of(context, *ratio)};
  finding.summary = fmt::format(
      "The allocator holds {} of the device's memory, {:.1f} times what tensors need at their "
      "peak.",
      percent(*reserved), ratio->value);
  add_evidence(context, verdict, FactId::kMemoryReservedRatio, ratio->value, "ratio");
  add_evidence(context, verdict, FactId::kMemoryPeakReservedFraction, *reserved, "reserved");
  finding.no_prediction = "a risk, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_memory_allocator_retries(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "memory.allocator_retries";
  const auto retries = context.largest(FactId::kMemoryRetries);
  if (!retries) return not_judged(judgement, kId, context.missing(FactId::kMemoryRetries));
  if (retries->value < context.threshold(kId, "count")) return;
  // A single one in a long run is cudnn.benchmark trying a large workspace.
  constexpr double kOften = 2;
  Verdict verdict = start_verdict(kId, retries->value < kOften ? Role::kNote : Role::kCause);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {rank_of(context, *retries)};
  finding.summary =
      fmt::format("{:.0f} time{} an allocation failed and was tried again with an emptied cache.",
                  retries->value, retries->value == 1 ? "" : "s");
  add_evidence(context, verdict, FactId::kMemoryRetries, retries->value, "count");
  add_fact(context, verdict, facts_of(context, *retries), FactId::kMemoryPeakReservedFraction);
  finding.no_prediction = "the time of a retry is not recorded; the next one may fail";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_memory_fluctuation(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "memory.fluctuation";
  const auto change = context.largest(FactId::kMemoryFluctuation);
  if (!change) return not_judged(judgement, kId, context.missing(FactId::kMemoryFluctuation));
  if (change->value < context.threshold(kId, "fluctuation")) return;
  const model::FactSet& facts = facts_of(context, *change);
  if (facts.value_or(FactId::kMemoryPeakPeriod, 0) > 0) return;  // a pattern
  // So is steady growth.
  const double slope = facts.value_or(FactId::kMemoryGrowthPerStep, 0);
  if (slope >= context.threshold("memory.growth", "slope") &&
      facts.value_or(FactId::kMemoryGrowthConsistency, 0) >=
          context.threshold("memory.growth", "consistency")) {
    return;
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.ranks = {rank_of(context, *change)};
  finding.summary =
      fmt::format("What tensors hold differs by {} of the highest, in no regular rhythm.",
                  percent(change->value));
  add_evidence(context, verdict, FactId::kMemoryFluctuation, change->value, "fluctuation");
  add_fact(context, verdict, facts, FactId::kMemoryPeakAllocated);
  finding.no_prediction = "a matter of memory, not of time";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_memory_periodic_peaks(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "memory.periodic_peaks";
  const auto period = context.largest(FactId::kMemoryPeakPeriod);
  if (!period || period->value <= 0) return;
  const model::FactSet& facts = facts_of(context, *period);
  const double change = facts.value_or(FactId::kMemoryFluctuation, 0);
  if (change < context.threshold(kId, "fluctuation")) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.ranks = {rank_of(context, *period)};
  finding.summary =
      fmt::format("Every {:.0f} steps more memory is used, up to {} of the highest peak.",
                  period->value, percent(change));
  add_evidence(context, verdict, FactId::kMemoryPeakPeriod, period->value);
  add_evidence(context, verdict, FactId::kMemoryFluctuation, change, "fluctuation");
  finding.no_prediction = "a matter of memory, not of time";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
