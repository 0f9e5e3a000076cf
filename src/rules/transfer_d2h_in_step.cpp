#include "rules/transfer_d2h_in_step.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "transfer.d2h_in_step";
constexpr double kWorthCopying = 64 * 1024;  // bytes per step; single values are a matter of syncs
constexpr double kCritical = 0.3;
constexpr double kSure = 0.8;  // of the operators' time, what surely goes

analysis::Edit kept_on_device(double kept, double operators) {
  analysis::Edit edit;
  edit.d2h_time = kept;
  edit.copies_async = true;
  edit.remove_syncs = true;
  edit.sync_names = {"aten::copy_", "aten::_to_copy", "aten::to"};
  edit.sync_feeding_ops = kept;
  // The operators that copy allocate and touch host memory as well.
  edit.host_ops = 1 - operators * (1 - kept);
  return edit;
}

}  // namespace

void judge_transfer_d2h_in_step(const Context& context, Judgement& judgement) {
  const auto bytes = context.largest(FactId::kCopiesD2hBytesPerStep);
  if (!bytes) return not_judged(judgement, kId, context.missing(FactId::kCopiesD2hBytesPerStep));
  if (bytes->value < kWorthCopying) return;
  const model::FactSet& facts = context.job().ranks[bytes->position].facts;
  // Bursts that save the state or feed statistics are findings of their own.
  if (facts.value_or(FactId::kPausesCheckpointShare, 0) > 0 ||
      facts.value_or(FactId::kPausesLoggingShare, 0) > 0) {
    return;
  }
  const double operators =
      operator_share(context, bytes->position, {"aten::to", "aten::_to_copy", "aten::copy_"});
  const double gained = gain(context, kept_on_device(0, operators * kSure));
  if (gained < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = gained >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = facts.value_or(FactId::kCopiesD2hShare, 0);
  finding.ranks = context.ranks_with(FactId::kCopiesD2hBytesPerStep, kWorthCopying);
  finding.summary = fmt::format(
      "{} per step are copied back to the host in {:.1f} copies; the host waits for them "
      "and the device for the host.",
      rules::bytes(bytes->value), facts.value_or(FactId::kCopiesD2hPerStep, 0));
  add_measure(context, verdict, "predicted gain", gained, "fraction", "share");
  add_evidence(context, verdict, FactId::kCopiesD2hBytesPerStep, bytes->value);
  add_evidence(context, verdict, FactId::kCopiesD2hShare, finding.share_of_time);
  set_edits(verdict, kept_on_device(0, operators), kept_on_device(0.05, operators * kSure),
            kept_on_device(0.5, 0),
            "the copies and the waits for them go, or at worst half of them stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
