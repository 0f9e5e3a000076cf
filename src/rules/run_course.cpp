#include "rules/run_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr double kMinute = 60e9;  // ns
constexpr const char* kNotOfSteps = "it concerns the run, not its steps";

const model::FactSet& facts_of(const Context& context, const OnRank& at) {
  return context.job().ranks[at.position].facts;
}

// Whether the command came to its end by itself.
bool finished(const Context& context, std::size_t position) {
  const auto& run = context.timeline().ranks[position].run;
  return run != nullptr && run->ended && run->exit_signal == 0 && run->exit_code == 0;
}

}  // namespace

void judge_run_long_startup(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "run.long_startup";
  const auto startup = context.largest(FactId::kRunStartup);
  if (!startup) return not_judged(judgement, kId, context.missing(FactId::kRunStartup));
  const model::FactSet& facts = facts_of(context, *startup);
  const double share = facts.value_or(FactId::kRunStartupShare, 0);
  const bool very_long = startup->value >= context.threshold(kId, "minutes") * kMinute;
  const bool long_share = startup->value >= kMinute && share >= context.threshold(kId, "share");
  if (!very_long && !long_share) return;
  Verdict verdict = start_verdict(kId, very_long ? Role::kCause : Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[startup->position].info.rank};
  finding.summary = fmt::format("The first step began {} after the start, {} of the run.",
                                duration(startup->value), percent(share));
  add_measure(context, verdict, "minutes to the first step", startup->value / kMinute, "min",
              "minutes");
  add_evidence(context, verdict, FactId::kRunStartupShare, share, "share");
  finding.no_prediction = kNotOfSteps;
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_run_idle_after_finish(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "run.idle_after_finish";
  const auto util = context.largest(FactId::kRunUtilAfter);
  const auto after = context.largest(FactId::kRunAfter);
  if (!after || after->value < context.threshold(kId, "minutes") * kMinute) return;
  const model::FactSet& facts = facts_of(context, *after);
  if (facts.value_or(FactId::kRunAfterShare, 0) < context.threshold(kId, "share")) return;
  if (!util) return not_judged(judgement, kId, context.missing(FactId::kRunUtilAfter));
  if (util->value >= context.threshold(kId, "util")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[after->position].info.rank};
  finding.summary =
      fmt::format("{} passed after the last step, {} of the run, with the GPU {} in use.",
                  duration(after->value), percent(facts.value_or(FactId::kRunAfterShare, 0)),
                  percent(util->value));
  add_measure(context, verdict, "minutes after the last step", after->value / kMinute, "min",
              "minutes");
  add_fact(context, verdict, facts, FactId::kRunAfterShare, "share");
  add_evidence(context, verdict, FactId::kRunUtilAfter, util->value, "util", {}, "<");
  finding.no_prediction = kNotOfSteps;
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_run_no_progress(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "run.no_progress";
  const auto after = context.largest(FactId::kRunAfter);
  if (!after || finished(context, after->position)) return;
  const model::FactSet& facts = facts_of(context, *after);
  const double step = facts.value_or(FactId::kStepsP50, 0);
  if (after->value < context.threshold(kId, "minutes") * kMinute ||
      after->value < context.threshold(kId, "steps") * step) {
    return;
  }
  const auto util = context.largest(FactId::kRunUtilAfter);
  if (!util) return not_judged(judgement, kId, context.missing(FactId::kRunUtilAfter));
  if (util->value < context.threshold(kId, "util")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kMedium;
  finding.ranks = {context.timeline().ranks[after->position].info.rank};
  // Nothing of it is training: no fix of a step gains as much.
  finding.share_of_time = 1;
  finding.summary = fmt::format(
      "No step ended in the last {}, {:.0f} times the median step, and the GPU was {} in use.",
      duration(after->value), step > 0 ? after->value / step : 0, percent(util->value));
  add_measure(context, verdict, "minutes without a step", after->value / kMinute, "min", "minutes");
  add_evidence(context, verdict, FactId::kRunUtilAfter, util->value, "util");
  finding.no_prediction = kNotOfSteps;
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_run_low_goodput(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "run.low_goodput";
  const auto elapsed = context.largest(FactId::kRunElapsed);
  if (!elapsed || elapsed->value < context.threshold(kId, "minutes") * kMinute) return;
  const auto share = context.mean(FactId::kRunStepShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kRunStepShare));
  if (*share >= context.threshold(kId, "share")) return;
  const model::FactSet& facts = facts_of(context, *elapsed);
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.summary =
      fmt::format("{} of the {} were training steps that did not wait, save, validate or compile.",
                  percent(*share), duration(elapsed->value));
  add_evidence(context, verdict, FactId::kRunStepShare, *share, "share", {}, "<");
  add_fact(context, verdict, facts, FactId::kRunStartupShare);
  add_fact(context, verdict, facts, FactId::kRunAfterShare);
  finding.no_prediction = "the findings of each part have predictions";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_run_low_utilization(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "run.low_utilization";
  const auto epochs = context.largest(FactId::kRunLowUseEpochs);
  if (!epochs) return not_judged(judgement, kId, context.missing(FactId::kRunLowUseEpochs));
  if (epochs->value <= context.threshold(kId, "epochs")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = context.ranks_with(FactId::kRunLowUseEpochs, context.threshold(kId, "epochs"));
  finding.summary = fmt::format(
      "The device was busy for less than 30% of the time throughout {:.1f} epochs. What it waits "
      "for is said by the other findings.",
      epochs->value);
  add_evidence(context, verdict, FactId::kRunLowUseEpochs, epochs->value, "epochs", {}, ">");
  finding.no_prediction = "the findings of each cause have predictions";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
