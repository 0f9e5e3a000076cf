#include "rules/debug_anomaly_mode.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "debug.anomaly_mode";
constexpr int kFewestFunctions = 3;

struct Checks {
  std::size_t position = 0;
  double per_step = 0;  // reads of single values inside backward functions
  int functions = 0;    // different ones
};

Checks checks_of(const Context& context, std::size_t position) {
  const model::RankTimeline& timeline = context.timeline().ranks[position];
  Checks checks;
  checks.position = position;
  for (const model::SyncRow& row : context.job().ranks[position].host.syncs) {
    if (!timeline.name(row.op).starts_with("autograd::engine::evaluate_function")) continue;
    if (timeline.name(row.leaf_op) != "aten::_local_scalar_dense") continue;
    checks.per_step += row.per_step;
    ++checks.functions;
  }
  return checks;
}

analysis::Edit without_checks(double feeding, double other) {
  analysis::Edit edit;
  edit.remove_syncs = true;
  edit.sync_feeding_ops = feeding;
  // Tracebacks are taken inside the operators, when each makes its backward node.
  edit.host_other = other;
  edit.host_ops = other;
  return edit;
}

// A recording has no operators, but what the program's settings are.
void judge_flag(const Context& context, Judgement& judgement) {
  const auto on = context.largest(FactId::kAutogradAnomaly);
  if (!on || on->value < 1) return;
  const model::RankAnalysis& rank = context.job().ranks[on->position];
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = context.ranks_with(FactId::kAutogradAnomaly, 1);
  finding.share_of_time = 1;
  finding.summary =
      "Anomaly detection is on: the result of every backward function is read on the host, and "
      "every operator records a traceback.";
  add_evidence(context, verdict, FactId::kAutogradAnomaly, on->value);
  add_fact(context, verdict, rank.facts, FactId::kWaterfallIdleHost);
  set_edits(
      verdict, without_checks(0, 0.12), without_checks(0, 0.3), without_checks(0.5, 0.8),
      "the checks and their waits go, and 20 to 88% of the host time in and between operators "
      "(tracebacks; 70% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace

void judge_debug_anomaly_mode(const Context& context, Judgement& judgement) {
  std::optional<Checks> most;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const Checks checks = checks_of(context, i);
    if (!most || checks.per_step > most->per_step) most = checks;
  }
  if (!most || most->functions < kFewestFunctions ||
      most->per_step < context.threshold(kId, "count")) {
    return judge_flag(context, judgement);
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[most->position].info.rank};
  finding.share_of_time = 1;
  finding.summary = fmt::format(
      "{:.0f} values per step are read on the host from within {} different backward functions: "
      "the "
      "NaN check of anomaly detection, which also records a traceback for every operator.",
      most->per_step, most->functions);
  add_measure(context, verdict, "reads inside backward functions per step", most->per_step, "count",
              "count");
  add_evidence(context, verdict, FactId::kWaterfallIdleHost,
               context.job().ranks[most->position].facts.value_or(FactId::kWaterfallIdleHost, 0));
  set_edits(
      verdict, without_checks(0, 0.12), without_checks(0, 0.3), without_checks(0.5, 0.8),
      "the checks and their waits go, and 20 to 88% of the host time in and between operators "
      "(tracebacks; 70% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
