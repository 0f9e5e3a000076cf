#include "rules/pauses_checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "pauses.checkpoint";
constexpr double kCritical = 0.2;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.checkpoint = part;
  return edit;
}

}  // namespace

void judge_pauses_checkpoint(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPausesCheckpointShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesCheckpointShare));
  if (share->value < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kPausesCheckpointShare, context.threshold(kId, "share"));
  finding.summary = fmt::format("Saving the state takes {} of the time{}.", percent(share->value),
                                context.job().ranks[share->position].waterfall.devices.empty()
                                    ? ""
                                    : "; the device has nothing to do meanwhile");
  add_evidence(context, verdict, FactId::kPausesCheckpointShare, share->value, "share");
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const double inferred = facts.value_or(FactId::kPausesInferredCheckpoints, 0);
  if (inferred > 0) {
    finding.confidence = model::Confidence::kMedium;
    finding.summary +=
        " Recognised by its pattern: a burst of device-to-host copies, then host code without "
        "operators." +
        where_counted(context, share->position, model::Cause::kIdleCheckpoint);
    add_evidence(context, verdict, FactId::kPausesInferredCheckpoints, inferred);
  }
  set_edits(verdict, kept(0), kept(0.05), kept(0.4),
            "an asynchronous or rarer save leaves 0 to 40% of the pause (5% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
