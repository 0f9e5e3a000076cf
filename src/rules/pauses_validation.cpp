#include "rules/pauses_validation.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "pauses.validation";
constexpr double kCritical = 0.2;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.validation = part;
  return edit;
}

}  // namespace

void judge_pauses_validation(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPausesValidationShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesValidationShare));
  if (share->value < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kPausesValidationShare, context.threshold(kId, "share"));
  finding.summary = context.job().ranks[share->position].waterfall.devices.empty()
                        ? fmt::format("Validation takes {} of the time.", percent(share->value))
                        : fmt::format("The device idles {} of the time inside validation.",
                                      percent(share->value));
  add_evidence(context, verdict, FactId::kPausesValidationShare, share->value, "share");
  set_edits(verdict, kept(0), kept(0.25), kept(0.75),
            "validation less often or in larger batches leaves 0 to 75% of its time (a quarter "
            "expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
