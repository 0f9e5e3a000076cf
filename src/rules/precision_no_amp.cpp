#include "rules/precision_no_amp.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"
#include "rules/precision_amp.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "precision.no_amp";

bool in_16_bits(const model::KernelTraits& k) {
  return k.math == model::MathType::kBf16 || k.math == model::MathType::kFp16 ||
         k.math == model::MathType::kHalf;
}

analysis::Edit half(double matrix, double bytes, double attention) {
  using model::KernelClass;
  analysis::Edit edit;
  edit.kernels.push_back(
      {[](const model::KernelTraits& k, model::NameId) {
         return (k.klass == KernelClass::kGemm || k.klass == KernelClass::kConv) && !in_16_bits(k);
       },
       {},
       matrix,
       1});
  edit.kernels.push_back({[](const model::KernelTraits& k, model::NameId) {
                            return k.klass == KernelClass::kAttention && !in_16_bits(k);
                          },
                          {},
                          attention,
                          1});
  edit.kernels.push_back({[](const model::KernelTraits& k, model::NameId) {
                            return k.klass == KernelClass::kElementwise ||
                                   k.klass == KernelClass::kNorm ||
                                   k.klass == KernelClass::kReduction ||
                                   k.klass == KernelClass::kCopyKernel;
                          },
                          {},
                          bytes,
                          1});
  return edit;
}

}  // namespace

void judge_precision_no_amp(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kKernelsMatrixClassShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kKernelsMatrixClassShare));
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const double tf32 = facts.value_or(FactId::kKernelsTf32MathShare, 0) * share->value;
  // Plain FP32 is a finding of its own, with more to gain.
  const double fp32 = facts.value_or(FactId::kKernelsFp32MathShare, 0) * share->value;
  if (tf32 < context.threshold(kId, "share") || fp32 > tf32) return;
  if (amp_is_without_effect(facts)) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kWarning;
  finding.share_of_time = tf32;
  finding.summary = fmt::format(
      "{} of the device time goes into TF32 matrix kernels, at half the rate of bf16, and "
      "activations take twice the bytes.",
      percent(tf32));
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    finding.ranks.push_back(rank.info.rank);
  }
  add_measure(context, verdict, "time in TF32 matrix kernels", tf32, "fraction", "share");
  add_evidence(context, verdict, FactId::kKernelsHalfMathShare,
               facts.value_or(FactId::kKernelsHalfMathShare, 0));
  set_edits(verdict, half(0.4, 0.45, 0.2), half(0.5, 0.6, 0.4), half(0.75, 0.9, 0.9),
            "TF32 matrix kernels at 1.3 to 2.5 times the rate, memory-bound kernels on half to "
            "nine tenths of the bytes");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
