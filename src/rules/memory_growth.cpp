#include "rules/memory_growth.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "memory.growth";
constexpr double kMiB = 1024.0 * 1024;
constexpr double kSoon = 5000;  // steps

}  // namespace

void judge_memory_growth(const Context& context, Judgement& judgement) {
  const auto slope = context.largest(FactId::kMemoryGrowthPerStep);
  if (!slope) return not_judged(judgement, kId, context.missing(FactId::kMemoryGrowthPerStep));
  if (slope->value < context.threshold(kId, "slope")) return;
  const model::FactSet& facts = context.job().ranks[slope->position].facts;
  const double consistency = facts.value_or(FactId::kMemoryGrowthConsistency, 0);
  if (consistency < context.threshold(kId, "consistency")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.ranks = context.ranks_with(FactId::kMemoryGrowthPerStep, context.threshold(kId, "slope"));
  finding.summary = fmt::format("Tensors hold {:.1f} MiB more after each step, in {} of the steps.",
                                slope->value / kMiB, percent(consistency));
  const double total = facts.value_or(FactId::kMemoryTotal, 0);
  const double peak = facts.value_or(FactId::kMemoryPeakAllocated, 0);
  if (total > peak && peak > 0) {
    const double left = (total - peak) / slope->value;
    finding.summary +=
        fmt::format(" At this rate the device is full after about {:.0f} more steps.", left);
    if (left < kSoon) finding.severity = model::Severity::kCritical;
  }
  add_evidence(context, verdict, FactId::kMemoryGrowthPerStep, slope->value, "slope");
  add_evidence(context, verdict, FactId::kMemoryGrowthConsistency, consistency, "consistency");
  finding.no_prediction = "a failure to come, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
