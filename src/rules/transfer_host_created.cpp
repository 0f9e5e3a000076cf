#include "rules/transfer_host_created.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "transfer.host_created";
constexpr double kCritical = 0.3;

analysis::Edit on_device(double kept) {
  analysis::Edit edit;
  edit.copy_feeding_ops = kept;
  edit.copy_host = kept;
  edit.h2d_time = kept;
  edit.copies_async = true;
  return edit;
}

}  // namespace

void judge_transfer_host_created(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kCopiesHostCreatedShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kCopiesHostCreatedShare));
  if (share->value < context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const double per_step = facts.value_or(FactId::kCopiesHostCreatedPerStep, 0);

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kCopiesHostCreatedShare, context.threshold(kId, "share"));
  const std::string op(facts.text(FactId::kCopiesHostCreatedOp));
  finding.summary = fmt::format(
      "{:.1f} tensors per step are made on the host{} and copied to the device right after: {} of "
      "the time.",
      per_step, op.empty() ? std::string() : " by " + op, percent(share->value));
  if (!op.empty()) finding.where.push_back(op);
  add_evidence(context, verdict, FactId::kCopiesHostCreatedShare, share->value, "share");
  add_evidence(context, verdict, FactId::kCopiesHostCreatedPerStep, per_step);
  add_evidence(context, verdict, FactId::kCopiesHostCreatedBytesPerStep,
               facts.value_or(FactId::kCopiesHostCreatedBytesPerStep, 0));
  set_edits(verdict, on_device(0), on_device(0.05), on_device(0.3),
            "making and copying these tensors goes; at worst a third of it stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
