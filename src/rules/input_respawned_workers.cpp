#include "rules/input_respawned_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "input.respawned_workers";
constexpr double kCritical = 0.2;
constexpr double kFirstBatch = 0.5;  // an epoch's first batch is loaded anew in any case

analysis::Edit waits(double factor) {
  analysis::Edit edit;
  edit.input_wait = factor;
  return edit;
}

}  // namespace

void judge_input_respawned_workers(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kInputIteratorStartShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputIteratorStartShare));
  const model::RankAnalysis& rank = context.job().ranks[share->position];
  const model::InputWaits& input = rank.pauses.input;
  if (input.kind == model::LoaderKind::kSingleProcess || input.iterator_starts == 0) return;
  if (share->value < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kInputIteratorStartShare, context.threshold(kId, "warn"));
  finding.summary = fmt::format(
      "{} new loader iterator{} took {} of the time until {} first batch{}: {} each. Worker "
      "processes start anew every time.",
      input.iterator_starts, input.iterator_starts == 1 ? "" : "s", percent(share->value),
      input.iterator_starts == 1 ? "its" : "their", input.iterator_starts == 1 ? "" : "es",
      duration(static_cast<double>(input.iterator_start_time) /
               static_cast<double>(input.iterator_starts)));
  add_evidence(context, verdict, FactId::kInputIteratorStartShare, share->value, "warn");
  add_evidence(context, verdict, FactId::kInputIteratorStarts,
               static_cast<double>(input.iterator_starts));
  add_evidence(context, verdict, FactId::kInputWaitP50, static_cast<double>(input.p50), {},
               "an ordinary wait");
  // Of all the time in or between loader ranges, what is not an iterator's start stays.
  const double window = rank.facts.value_or(FactId::kStepsWindow, 1);
  double loader = static_cast<double>(input.total);
  for (const model::InferredRegion& region : rank.pauses.inferred) {
    if (region.cause == model::Cause::kIdleInput) {
      loader += static_cast<double>(region.span.length());
    }
  }
  const double kept = std::clamp(1 - share->value * window / std::max(1.0, loader), 0.0, 1.0);
  set_edits(verdict, waits(0), waits(kept), waits(kept + (1 - kept) * kFirstBatch),
            "workers stay alive: the time between an iterator's end and the next one's first "
            "batch goes, or at worst half of it stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
