#include "rules/compute_bound.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "compute.bound";

}  // namespace

void judge_compute_bound(const Context& context, Judgement& judgement) {
  double share = 0;
  for (const FactId id : {FactId::kWaterfallComputeTensor, FactId::kWaterfallComputeMath,
                          FactId::kWaterfallComputeMemory, FactId::kWaterfallComputeOther}) {
    const auto value = context.job().facts.value(id);
    if (!value) return not_judged(judgement, kId, "no device activity was recorded");
    share += *value;
  }
  if (share < context.threshold(kId, "share")) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.share_of_time = share;
  finding.confidence = model::Confidence::kHigh;
  const double memory = context.job().facts.value_or(FactId::kWaterfallComputeMemory, 0);
  finding.summary = fmt::format("{} of the device time is computation", percent(share));
  finding.summary += memory > share / 2
                         ? fmt::format(
                               ", most of it bound by memory ({}): faster arithmetic would "
                               "not help, fewer bytes would.",
                               percent(memory))
                         : ".";
  finding.no_prediction = "nothing is obviously wasted";
  add_measure(context, verdict, "compute share", share, "fraction", "share");
  add_evidence(context, verdict, FactId::kWaterfallComputeTensor,
               context.job().facts.value_or(FactId::kWaterfallComputeTensor, 0));
  add_evidence(context, verdict, FactId::kWaterfallComputeMemory, memory);
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
