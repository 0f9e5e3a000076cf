#include "rules/transfer_small_copies.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "transfer.small_copies";
constexpr double kCritical = 0.3;
constexpr double kFewCopies = 4;
constexpr double kSure = 0.8;  // of the operators' time, what surely goes

analysis::Edit packed(double kept, double operators) {
  analysis::Edit edit;
  edit.copy_host = kept;
  edit.h2d_time = kept;
  edit.copy_feeding_ops = kept;
  edit.copies_async = true;
  // The operators around each copy, and the loop that calls them, go with it.
  edit.host_ops = edit.host_other = 1 - operators * (1 - kept);
  return edit;
}

}  // namespace

void judge_transfer_small_copies(const Context& context, Judgement& judgement) {
  const auto count = context.largest(FactId::kCopiesH2dSmallPerStep);
  if (!count) return not_judged(judgement, kId, context.missing(FactId::kCopiesH2dSmallPerStep));
  if (count->value < context.threshold(kId, "count")) return;
  const model::FactSet& facts = context.job().ranks[count->position].facts;
  const double operators =
      operator_share(context, count->position, {"aten::to", "aten::_to_copy", "aten::copy_"});
  const double gained = gain(context, packed(kFewCopies / count->value, operators * kSure));
  if (gained < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = gained >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = facts.value_or(FactId::kCopiesH2dCallShare, gained);
  finding.ranks =
      context.ranks_with(FactId::kCopiesH2dSmallPerStep, context.threshold(kId, "count"));
  finding.summary = fmt::format(
      "{:.0f} host-to-device copies below 64 KiB in each step; issuing them takes {} of the "
      "step.",
      count->value, percent(finding.share_of_time));
  add_evidence(context, verdict, FactId::kCopiesH2dSmallPerStep, count->value, "count");
  add_evidence(context, verdict, FactId::kCopiesH2dBytesPerStep,
               facts.value_or(FactId::kCopiesH2dBytesPerStep, 0));
  add_measure(context, verdict, "predicted gain", gained, "fraction", "share");
  set_edits(verdict, packed(1 / count->value, operators),
            packed(kFewCopies / count->value, operators * kSure), packed(0.3, 0),
            "one packed copy instead of many; at worst a third of the host time stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
