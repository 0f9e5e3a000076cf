#include "rules/launch_unfused_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "launch.unfused_optimizer";
constexpr double kCritical = 0.3;

analysis::Edit fused(double host, double device) {
  analysis::Edit edit;
  edit.ranges.push_back({"Optimizer.step", host, device});
  return edit;
}

}  // namespace

void judge_launch_unfused_optimizer(const Context& context, Judgement& judgement) {
  const auto kernels = context.largest(FactId::kOptimizerKernelsPerStep);
  if (!kernels)
    return not_judged(judgement, kId, context.missing(FactId::kOptimizerKernelsPerStep));
  if (kernels->value < context.threshold(kId, "kernels")) return;
  const model::FactSet& facts = context.job().ranks[kernels->position].facts;
  const std::string_view style = facts.text(FactId::kOptimizerStyle);
  if (style != "loop" && style != "foreach") return;
  const bool loop = style == "loop";
  const analysis::Edit expected = loop ? fused(0.08, 0.4) : fused(0.35, 0.6);
  const double gained = gain(context, expected);
  if (gained < context.threshold(kId, "share") / 2) return;
  const double share = std::max(facts.value_or(FactId::kOptimizerHostShare, 0),
                                facts.value_or(FactId::kOptimizerDeviceShare, 0));
  if (share < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = gained >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share;
  finding.ranks =
      context.ranks_with(FactId::kOptimizerKernelsPerStep, context.threshold(kId, "kernels"));
  finding.summary = fmt::format(
      "{} launches {:.0f} kernels per step ({}) and takes {} of the step.",
      facts.has(FactId::kOptimizerName) ? std::string(facts.text(FactId::kOptimizerName))
                                        : std::string("The optimizer"),
      kernels->value, loop ? "some for each parameter" : "batched over parameters, several passes",
      percent(share));
  add_evidence(context, verdict, FactId::kOptimizerKernelsPerStep, kernels->value, "kernels");
  add_evidence(context, verdict, FactId::kOptimizerHostShare,
               facts.value_or(FactId::kOptimizerHostShare, 0), "share");
  add_evidence(context, verdict, FactId::kOptimizerDeviceShare,
               facts.value_or(FactId::kOptimizerDeviceShare, 0));
  set_edits(verdict, loop ? fused(0.03, 0.2) : fused(0.15, 0.4), expected,
            loop ? fused(0.25, 0.8) : fused(0.7, 1),
            loop ? "one fused pass: 3 to 25% of the optimizer's host time and 20 to 80% of its "
                   "device time stay"
                 : "one fused pass instead of several: 15 to 70% of the optimizer's host time and "
                   "40 to 100% of its device time stay");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
