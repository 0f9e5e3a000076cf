#include "rules/layout_channels_first.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "layout.channels_first";
constexpr double kCritical = 0.3;

analysis::Edit channels_last(double conversions, double convolutions, double norms) {
  using model::KernelClass;
  const auto of = [](KernelClass klass) {
    return [klass](const model::KernelTraits& k, model::NameId) { return k.klass == klass; };
  };
  analysis::Edit edit;
  edit.kernels.push_back({of(KernelClass::kLayout), {}, conversions, conversions});
  edit.kernels.push_back({of(KernelClass::kConv), {}, convolutions, 1});
  edit.kernels.push_back({of(KernelClass::kNorm), {}, norms, 1});
  return edit;
}

}  // namespace

void judge_layout_channels_first(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kKernelsLayoutShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kKernelsLayoutShare));
  if (share->value < context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kKernelsLayoutShare, context.threshold(kId, "share"));
  finding.summary =
      fmt::format("{:.0f} layout conversions (NCHW to NHWC and back) per step take {} of the time.",
                  facts.value_or(FactId::kKernelsLayoutPerStep, 0), percent(share->value));
  add_evidence(context, verdict, FactId::kKernelsLayoutShare, share->value, "share");
  add_evidence(context, verdict, FactId::kKernelsLayoutPerStep,
               facts.value_or(FactId::kKernelsLayoutPerStep, 0));
  add_evidence(context, verdict, FactId::kKernelsConvShare,
               facts.value_or(FactId::kKernelsConvShare, 0));
  set_edits(verdict, channels_last(0, 0.8, 0.6), channels_last(0, 0.95, 0.75),
            channels_last(0.2, 1, 1),
            "conversions go; convolutions keep 80 to 100% and normalisations 60 to 100% of their "
            "time");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
