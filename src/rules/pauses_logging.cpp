#include "rules/pauses_logging.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "pauses.logging";
constexpr double kCritical = 0.2;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.logging = part;
  return edit;
}

}  // namespace

void judge_pauses_logging(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPausesLoggingShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesLoggingShare));
  if (share->value < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kPausesLoggingShare, context.threshold(kId, "share"));
  finding.summary = fmt::format(
      "Copying tensors to the host and working on them there (histograms, metrics, logs) takes {} "
      "of the time.",
      percent(share->value));
  finding.summary += where_counted(context, share->position, model::Cause::kIdleLogging);
  add_evidence(context, verdict, FactId::kPausesLoggingShare, share->value, "share");
  set_edits(verdict, kept(0), kept(0.05), kept(0.5),
            "logging every N steps leaves 0 to 50% of it (5% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
