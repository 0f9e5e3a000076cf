#include "rules/input_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

analysis::Edit waits(double factor) {
  analysis::Edit edit;
  edit.input_wait = factor;
  return edit;
}

// A verdict about `lost` of the time, which is a part of all waits for batches: of that part 0 to
// 80% stay.
Verdict start(const Context& context, std::string_view id, FactId fact, OnRank at, double lost) {
  const model::FactSet& facts = context.job().ranks[at.position].facts;
  Verdict verdict = start_verdict(id);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, id, lost);
  finding.share_of_time = lost;
  finding.ranks = {context.timeline().ranks[at.position].info.rank};
  const double all = std::max(lost, facts.value_or(FactId::kInputWaitShare, lost));
  const double part = lost / all;
  add_evidence(context, verdict, fact, at.value,
               lost >= context.threshold(id, "critical") ? "critical" : "warn");
  add_fact(context, verdict, facts, FactId::kInputWaitShare);
  add_fact(context, verdict, facts, FactId::kInputWaitP50);
  set_edits(verdict, waits(1 - part), waits(1 - 0.7 * part), waits(1 - 0.2 * part),
            "such waits shrink to 0 to 80% of what they are (30% expected)");
  return verdict;
}

}  // namespace

void judge_input_pin_thread(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.pin_thread";
  const auto share = context.largest(FactId::kInputUnpinnedShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputUnpinnedShare));
  if (share->value < context.threshold(kId, "warn")) return;
  Verdict verdict = start(context, kId, FactId::kInputUnpinnedShare, *share, share->value);
  verdict.finding.summary = fmt::format(
      "The training thread waits {} of the time for batches that the workers have loaded and the "
      "pin-memory thread has not yet copied to pinned memory.",
      percent(share->value));
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_slow_fetch(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.slow_fetch";
  const auto share = context.largest(FactId::kInputReadyShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputReadyShare));
  if (share->value < context.threshold(kId, "warn")) return;
  // A thread without a CPU is slow at everything: that is a finding of its own. How much of that
  // wait fell into these calls is not known: all of it, to be safe.
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const auto no_cpu = facts.value(FactId::kHostMainRunWait);
  if (!no_cpu) return not_judged(judgement, kId, context.missing(FactId::kHostMainRunWait));
  const double lost = share->value - *no_cpu;
  if (lost < context.threshold(kId, "warn")) return;
  Verdict verdict = start(context, kId, FactId::kInputReadyShare, *share, lost);
  verdict.finding.summary = fmt::format(
      "For {} of the time the training thread is busy taking batches that were there already when "
      "it asked for them: {} for one in the median.",
      percent(lost), duration(facts.value_or(FactId::kInputWaitP50, 0)));
  add_fact(context, verdict, facts, FactId::kHostMainRunWait);
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
