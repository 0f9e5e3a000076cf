#include "rules/memory_near_limit.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "memory.near_limit";
constexpr double kGiB = 1024.0 * 1024 * 1024;

}  // namespace

void judge_memory_near_limit(const Context& context, Judgement& judgement) {
  auto share = context.largest(FactId::kMemoryPeakReservedFraction);
  FactId fact = FactId::kMemoryPeakReservedFraction;
  if (!share) {
    fact = FactId::kMemoryPeakFraction;
    share = context.largest(fact);
  }
  if (!share) return not_judged(judgement, kId, context.missing(fact));
  if (share->value < context.threshold(kId, "warn")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = context.ranks_with(fact, context.threshold(kId, "warn"));
  finding.summary = fmt::format(
      "{} of the device's {:.0f} GiB are in use at the peak; a little more and the allocator "
      "retries, then fails.",
      percent(share->value), facts.value_or(FactId::kMemoryTotal, 0) / kGiB);
  add_evidence(context, verdict, fact, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  if (const auto retries = facts.value(FactId::kAllocatorRetriesPerStep)) {
    add_evidence(context, verdict, FactId::kAllocatorRetriesPerStep, *retries);
  }
  finding.no_prediction = "a risk, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
