#include "rules/pauses_gc.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "pauses.gc";
constexpr double kCritical = 0.2;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.gc = part;
  return edit;
}

}  // namespace

void judge_pauses_gc(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPausesGcShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesGcShare));
  if (share->value < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kPausesGcShare, context.threshold(kId, "share"));
  finding.summary = fmt::format("Garbage collection takes {} of the time.", percent(share->value));
  add_evidence(context, verdict, FactId::kPausesGcShare, share->value, "share");
  set_edits(verdict, kept(0), kept(0.02), kept(0.5),
            "frozen or scheduled collections leave 0 to 50% of it (2% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
