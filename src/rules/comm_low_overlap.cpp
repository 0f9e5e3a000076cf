#include "rules/comm_low_overlap.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "comm.low_overlap";

analysis::Edit transfer(double kept) {
  analysis::Edit edit;
  edit.comm_time = kept;
  return edit;
}

}  // namespace

void judge_comm_low_overlap(const Context& context, Judgement& judgement) {
  const auto exposed = context.largest(FactId::kWaterfallCommTransfer);
  if (!exposed) return not_judged(judgement, kId, context.missing(FactId::kWaterfallCommTransfer));
  if (exposed->value < context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[exposed->position].facts;
  const auto overlap = facts.value(FactId::kCommOverlap);
  if (!overlap) return not_judged(judgement, kId, context.missing(FactId::kCommOverlap));
  if (*overlap >= context.threshold(kId, "overlap")) return;

  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.share_of_time = exposed->value;
  finding.confidence = model::Confidence::kLow;
  finding.ranks =
      context.ranks_with(FactId::kWaterfallCommTransfer, context.threshold(kId, "share"));
  finding.summary = *overlap < 0.0005
                        ? std::string("No communication is hidden behind computation.")
                        : fmt::format("Only {} of the communication is hidden behind computation.",
                                      percent(*overlap));
  add_evidence(context, verdict, FactId::kCommOverlap, *overlap, "overlap", {}, "<");
  add_evidence(context, verdict, FactId::kWaterfallCommTransfer, exposed->value, "share");
  set_edits(verdict, transfer(0.4), transfer(0.75), transfer(1),
            "more of it is hidden: 40 to 100% stays exposed (75% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
