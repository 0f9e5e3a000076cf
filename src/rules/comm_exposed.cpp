#include "rules/comm_exposed.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "comm.exposed";

analysis::Edit transfer(double kept) {
  analysis::Edit edit;
  edit.comm_time = kept;
  return edit;
}

}  // namespace

void judge_comm_exposed(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kWaterfallCommTransfer);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kWaterfallCommTransfer));
  if (share->value < context.threshold(kId, "warn")) return;
  const model::RankAnalysis& rank = context.job().ranks[share->position];

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kWaterfallCommTransfer, context.threshold(kId, "warn"));
  const bool skew_known = rank.waterfall.skew_known;
  finding.confidence = skew_known ? model::Confidence::kMedium : model::Confidence::kLow;
  finding.summary = fmt::format(
      "{} of the time only communication runs{}.", percent(share->value),
      skew_known ? ", waiting for later ranks not counted"
                 : "; how much of it is waiting for other ranks is not known from one rank alone");
  add_evidence(context, verdict, FactId::kWaterfallCommTransfer, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_evidence(context, verdict, FactId::kCommOverlap,
               rank.facts.value_or(FactId::kCommOverlap, 0));
  if (const auto bandwidth = rank.facts.value(FactId::kCommBusBandwidth)) {
    add_evidence(context, verdict, FactId::kCommBusBandwidth, *bandwidth);
  }
  set_edits(verdict, transfer(0.3), transfer(0.5), transfer(0.9),
            "30 to 90% of the transfer time stays (half expected: 16-bit gradients)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
