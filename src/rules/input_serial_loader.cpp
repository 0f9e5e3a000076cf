#include "rules/input_serial_loader.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "input.serial_loader";

analysis::Edit workers(double count) {
  analysis::Edit edit;
  edit.loader_workers = count;
  return edit;
}

}  // namespace

void judge_input_serial_loader(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kInputWaitShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputWaitShare));
  const model::RankAnalysis& rank = context.job().ranks[share->position];
  if (rank.pauses.input.kind != model::LoaderKind::kSingleProcess) return;
  if (share->value < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kInputWaitShare, context.threshold(kId, "warn"));
  const model::InputWaits& input = rank.pauses.input;
  finding.summary = fmt::format(
      "The training thread spends {} of the time in the single-process data loader, {} per "
      "batch{}.",
      percent(share->value), duration(static_cast<double>(input.p50)),
      rank.waterfall.devices.empty() ? "" : ", and the GPU waits meanwhile");
  add_evidence(context, verdict, FactId::kInputWaitShare, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_evidence(context, verdict, FactId::kInputWaitP50, static_cast<double>(input.p50));
  if (input.operators > 0) {
    add_evidence(context, verdict, FactId::kInputOperatorsPerWait,
                 rank.facts.value_or(FactId::kInputOperatorsPerWait, 0));
  }
  set_edits(verdict, workers(16), workers(8), workers(4),
            "the loader's work moves to 4 to 16 worker processes (8 expected) and overlaps with "
            "the step");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
