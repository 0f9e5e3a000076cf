#include "rules/host_cpu.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rules/build.h"
#include "rules/cpu_shortage.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

const model::FactSet& facts_of(const Context& context, const CpuShortage& shortage) {
  return context.job().ranks[shortage.position].facts;
}

// What all four findings have in common: the wait, what it costs, and what would be won back.
Verdict start(const Context& context, std::string_view id, const CpuShortage& shortage) {
  Verdict verdict = start_verdict(id);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, id, shortage.share());
  finding.share_of_time = shortage.share();
  finding.ranks = {context.timeline().ranks[shortage.position].info.rank};
  finding.summary = fmt::format(
      "The training thread was ready to run and had no CPU {} of the time", percent(shortage.main));
  if (shortage.input > 0) {
    finding.summary += fmt::format(
        ", and its loader's workers {} of theirs, while it waited for "
        "their batches",
        percent(shortage.workers));
  }
  finding.summary += ".";
  add_evidence(context, verdict, FactId::kHostMainRunWait, shortage.main);
  add_measure(context, verdict, "time lost waiting for a CPU", shortage.share(), "fraction",
              shortage.share() >= context.threshold(id, "critical") ? "critical" : "warn");
  set_edits(verdict, without_waits(shortage, 1), without_waits(shortage, 0.8),
            without_waits(shortage, 0.3),
            "30 to 100% of the waits for a CPU go (80% expected); nothing else gets faster");
  return verdict;
}

// Whether this finding is the one; tells why not where it could not be judged.
bool applies(const Context& context, std::string_view id, ShortOf reason,
             const CpuShortage& shortage, Judgement& judgement) {
  if (context.largest(FactId::kHostMainRunWait) == std::nullopt) {
    not_judged(judgement, id, context.missing(FactId::kHostMainRunWait));
    return false;
  }
  return shortage.reason == reason && shortage.share() >= context.threshold(id, "warn");
}

}  // namespace

void judge_host_cpu_quota(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.cpu_quota";
  const CpuShortage shortage = cpu_shortage(context);
  if (!applies(context, kId, ShortOf::kQuota, shortage, judgement)) return;
  const model::FactSet& facts = facts_of(context, shortage);
  Verdict verdict = start(context, kId, shortage);
  verdict.finding.confidence = model::Confidence::kHigh;
  verdict.finding.summary += fmt::format(
      " The control group may use {:.3g} CPUs' worth of time, and the process sees {:.0f} CPUs.",
      facts.value_or(FactId::kHostCpuQuota, 0), facts.value_or(FactId::kHostCpusAllowed, 0));
  add_fact(context, verdict, facts, FactId::kHostQuotaThrottledPeriods, "throttled");
  add_fact(context, verdict, facts, FactId::kHostCpuQuota);
  add_fact(context, verdict, facts, FactId::kHostCpusAllowed);
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_affinity(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.affinity";
  const CpuShortage shortage = cpu_shortage(context);
  if (!applies(context, kId, ShortOf::kAffinity, shortage, judgement)) return;
  const model::FactSet& facts = facts_of(context, shortage);
  Verdict verdict = start(context, kId, shortage);
  verdict.finding.confidence = model::Confidence::kHigh;
  const double allowed = facts.value_or(FactId::kHostCpusAllowed, 0);
  verdict.finding.summary += fmt::format(" It may run on {:.0f} of the machine's {:.0f} CPUs.",
                                         allowed, facts.value_or(FactId::kHostCpusOnline, allowed));
  add_fact(context, verdict, facts, FactId::kHostCpusAllowed);
  add_fact(context, verdict, facts, FactId::kHostCpusOnline);
  add_fact(context, verdict, facts, FactId::kHostTreeCpu);
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_cpu_saturated(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.cpu_saturated";
  const CpuShortage shortage = cpu_shortage(context);
  if (!applies(context, kId, ShortOf::kOthers, shortage, judgement)) return;
  const model::FactSet& facts = facts_of(context, shortage);
  Verdict verdict = start(context, kId, shortage);
  verdict.finding.confidence = model::Confidence::kHigh;
  verdict.finding.summary += fmt::format(
      " The machine's CPUs were {} busy, and this command used {:.1f} of the {:.3g} that it may.",
      percent(facts.value_or(FactId::kHostCpuBusy, 0)), facts.value_or(FactId::kHostTreeCpu, 0),
      facts.value_or(FactId::kHostCpusUsable, 0));
  add_fact(context, verdict, facts, FactId::kHostCpuBusy, "busy");
  add_fact(context, verdict, facts, FactId::kHostTreeCpu);
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_oversubscribed(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.oversubscribed";
  const CpuShortage shortage = cpu_shortage(context);
  if (!applies(context, kId, ShortOf::kOwn, shortage, judgement)) return;
  if (short_by_workers(context, shortage)) return;  // a finding of its own
  const model::FactSet& facts = facts_of(context, shortage);
  Verdict verdict = start(context, kId, shortage);
  verdict.finding.summary += fmt::format(
      " {:.1f} threads of the command were ready and had none at a time, on {:.3g} CPUs.",
      shortage.ready, facts.value_or(FactId::kHostCpusUsable, 0));
  add_measure(context, verdict, "threads ready without a CPU", shortage.ready, "count", "ready");
  add_fact(context, verdict, facts, FactId::kHostTreeThreads);
  add_fact(context, verdict, facts, FactId::kHostTreeCpu);
  add_fact(context, verdict, facts, FactId::kHostInvoluntarySwitches);
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
