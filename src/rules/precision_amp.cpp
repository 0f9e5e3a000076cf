#include "rules/precision_amp.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

analysis::Edit half(double matrix) {
  analysis::Edit edit;
  edit.kernels.push_back(
      {[](const model::KernelTraits& k, model::NameId) {
         return (k.klass == model::KernelClass::kGemm || k.klass == model::KernelClass::kConv) &&
                (k.math == model::MathType::kFp32 || k.math == model::MathType::kTf32);
       },
       {},
       matrix,
       1});
  return edit;
}

// Of the matrix kernels' time, that in FP32 and TF32.
double wide_share(const model::FactSet& facts) {
  return facts.value_or(FactId::kKernelsFp32MathShare, 0) +
         facts.value_or(FactId::kKernelsTf32MathShare, 0);
}

}  // namespace

bool amp_is_without_effect(const model::FactSet& facts) {
  const std::string_view type = facts.text(FactId::kAmpAutocast);
  if (type.empty() || type == "none") return false;
  return wide_share(facts) > facts.value_or(FactId::kKernelsHalfMathShare, 0);
}

void judge_precision_amp_without_effect(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "precision.amp_without_effect";
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const model::FactSet& facts = context.job().ranks[i].facts;
    const std::string_view type = facts.text(FactId::kAmpAutocast);
    const double matrix = facts.value_or(FactId::kKernelsMatrixClassShare, 0);
    const double wide = wide_share(facts);
    if (!amp_is_without_effect(facts) || wide * matrix < context.threshold(kId, "share")) continue;
    Verdict verdict = start_verdict(kId);
    model::Finding& finding = verdict.finding;
    finding.confidence = model::Confidence::kHigh;
    finding.share_of_time = wide * matrix;
    finding.ranks = {context.timeline().ranks[i].info.rank};
    finding.summary = fmt::format(
        "Autocast to {} is on, and {} of the time in matrix kernels is still FP32 or TF32.", type,
        percent(wide));
    add_measure(context, verdict, "FP32 and TF32 matrix kernels", wide * matrix, "fraction",
                "share");
    add_fact(context, verdict, facts, FactId::kKernelsHalfMathShare);
    // TF32 runs at half of bf16's rate, plain FP32 at an eighth or less.
    set_edits(verdict, half(0.15), half(0.4), half(0.8),
              "these kernels at 1.25 to 7 times the rate (2.5 expected)");
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
}

void judge_precision_scaler_skips(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "precision.scaler_skips";
  auto share = context.largest(FactId::kAmpSkippedShare);
  if (!share) {
    // A trace tells it of its few steps: only a scaler that hardly gets on is sure then.
    const auto skipped = context.largest(FactId::kAmpSkippedSteps);
    constexpr double kMostOf = 0.3;
    constexpr double kEnough = 10;
    if (!skipped) return not_judged(judgement, kId, context.missing(FactId::kAmpSkippedShare));
    const double steps =
        context.job().ranks[skipped->position].facts.value_or(FactId::kStepsCount, 0);
    if (steps < kEnough || skipped->value < kMostOf * steps) return;
    share = OnRank{skipped->position, skipped->value / steps};
  }
  if (share->value < context.threshold(kId, "share")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share->value;
  finding.ranks = {context.timeline().ranks[share->position].info.rank};
  finding.summary = fmt::format(
      "{} of the updates were thrown away: gradients overflowed. The steps were paid for all the "
      "same.",
      percent(share->value));
  add_evidence(context, verdict, FactId::kAmpSkippedShare, share->value, "share");
  finding.no_prediction = "steps take as long as before, and fewer are needed";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
