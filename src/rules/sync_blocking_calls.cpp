#include "rules/sync_blocking_calls.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "sync.blocking_calls";
constexpr double kCritical = 0.3;
constexpr double kExpectedFeeding = 0.2;
constexpr double kReplaced = 0.6;  // of the mask operators' host time, what a cheaper one saves

bool mostly_convolutions(const Context& context, std::size_t position) {
  const model::RankTimeline& timeline = context.timeline().ranks[position];
  double all = 0;
  double inside = 0;
  for (const model::SyncRow& row : context.job().ranks[position].host.syncs) {
    all += row.per_step;
    if (timeline.name(row.leaf_op).find("convolution") != std::string_view::npos) {
      inside += row.per_step;
    }
  }
  return inside > all / 2;
}

analysis::Edit without_syncs(double feeding, double operators) {
  analysis::Edit edit;
  edit.remove_syncs = true;
  edit.copies_async = true;
  edit.sync_feeding_ops = feeding;
  edit.host_ops = 1 - operators;
  return edit;
}

}  // namespace

void judge_sync_blocking_calls(const Context& context, Judgement& judgement) {
  const auto count = context.largest(FactId::kSyncsPerStep);
  if (!count) return not_judged(judgement, kId, context.missing(FactId::kSyncsPerStep));
  if (count->value < context.threshold(kId, "count")) return;
  const model::RankAnalysis& rank = context.job().ranks[count->position];
  // Masks and nonzero: the operator itself is replaced by one that needs no wait.
  const double masks =
      rank.facts.value_or(FactId::kSyncsNonzeroPerStep, 0) >= 1
          ? operator_share(context, count->position,
                           {"aten::index", "aten::nonzero", "aten::masked_select",
                            "aten::index_put_", "aten::_index_put_impl_", "aten::unique_dim"})
          : 0;
  // The waits of pauses and of cuDNN's search are findings of their own.
  analysis::Edit pauses;
  pauses.checkpoint = pauses.logging = pauses.validation = pauses.compile = 0;
  const analysis::Edit expected = without_syncs(kExpectedFeeding, masks * kReplaced);
  const double gained = gain(context, analysis::combine(pauses, expected)) - gain(context, pauses);
  if (mostly_convolutions(context, count->position)) return;
  if (gained < context.threshold(kId, "gain")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = gained >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = rank.facts.value_or(FactId::kSyncsDrainedShare, 0);
  finding.ranks = context.ranks_with(FactId::kSyncsPerStep, context.threshold(kId, "count"));
  const std::string top(rank.facts.text(FactId::kSyncsTop));
  finding.summary = fmt::format(
      "The host waits for the device {:.0f} times per step{}; afterwards the queue is empty. "
      "Waiting itself is mostly for useful work: what counts is the gain, {} of the step.",
      count->value, top.empty() ? std::string() : ", most of it in " + top, percent(gained));
  if (!top.empty()) finding.where.push_back(top);
  add_evidence(context, verdict, FactId::kSyncsPerStep, count->value, "count");
  add_measure(context, verdict, "predicted gain", gained, "fraction", "gain");
  add_evidence(context, verdict, FactId::kSyncsDrainedShare, finding.share_of_time);
  for (const FactId id : {FactId::kSyncsItemPerStep, FactId::kSyncsNonzeroPerStep}) {
    const double value = rank.facts.value_or(id, 0);
    if (value >= 1) add_evidence(context, verdict, id, value);
  }
  set_edits(verdict, without_syncs(0, masks), without_syncs(kExpectedFeeding, masks * kReplaced),
            without_syncs(1, 0),
            "the host no longer waits; the operators that only feed the waits go too, at worst "
            "none of them");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
