#include "rules/comm_repeated_reductions.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "comm.repeated_reductions";

analysis::Edit reductions(double keep) {
  analysis::Edit edit;
  edit.comm_count_keep = keep;
  return edit;
}

}  // namespace

void judge_comm_repeated_reductions(const Context& context, Judgement& judgement) {
  const auto count = context.largest(FactId::kCommRepeatedReductions);
  if (!count) return not_judged(judgement, kId, context.missing(FactId::kCommRepeatedReductions));
  if (count->value < context.threshold(kId, "count")) return;
  const model::FactSet& facts = context.job().ranks[count->position].facts;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = facts.value_or(FactId::kCommExposedShare, 0);
  finding.ranks =
      context.ranks_with(FactId::kCommRepeatedReductions, context.threshold(kId, "count"));
  finding.summary = fmt::format(
      "The same gradients are reduced {:.1f} times per optimizer step; only the last reduction is "
      "needed.",
      count->value);
  add_evidence(context, verdict, FactId::kCommRepeatedReductions, count->value, "count");
  add_evidence(context, verdict, FactId::kCommExposedShare, finding.share_of_time);
  const double keep = 1 / count->value;
  set_edits(verdict, reductions(keep * 0.5), reductions(keep), reductions((1 + keep) / 2),
            "all reductions but the last of each optimizer step go; at worst half of them");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
