#include "rules/input_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "rules/build.h"
#include "rules/cpu_shortage.h"
#include "rules/input_cause.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

const model::FactSet& facts_of(const Context& context, const InputDiagnosis& input) {
  return context.job().ranks[input.position].facts;
}

// Whether this cause is the one; says so where the wait is there and nothing is known of workers.
bool applies(const Context& context, std::string_view id, InputCause cause,
             const InputDiagnosis& input, Judgement& judgement) {
  if (input.cause == InputCause::kUnknown) {
    not_judged(judgement, id, context.missing(FactId::kWorkersCpu));
    return false;
  }
  return input.cause == cause;
}

// They start and end a little within the steps.
std::string workers_in_words(double alive) {
  constexpr double kNearly = 0.2;
  const double whole = std::round(alive);
  if (std::abs(alive - whole) > kNearly) return fmt::format("{:.1f} workers", alive);
  return whole == 1 ? "one worker" : fmt::format("{:.0f} workers", whole);
}

Verdict start(const Context& context, std::string_view id, const InputDiagnosis& input) {
  constexpr std::string_view kGeneral = "input.bound";
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start_verdict(id);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kGeneral, input.own);
  finding.share_of_time = input.own;
  finding.ranks = context.ranks_with(FactId::kInputWaitShare, context.threshold(kGeneral, "warn"));
  const double alive = facts.value_or(FactId::kWorkersAlive, 0);
  finding.summary = fmt::format("The training thread waits {} of the time for {}",
                                percent(input.steady), workers_in_words(alive));
  // What a finding about CPU time explains of it is not counted twice.
  constexpr double kWorthSaying = 0.005;
  if (input.steady - input.own >= kWorthSaying) {
    finding.summary +=
        fmt::format(" ({} without what a lack of CPU time explains)", percent(input.own));
  }
  const double configured = facts.value_or(FactId::kWorkersConfigured, 0);
  constexpr double kGone = 0.5;  // of the configured workers
  if (alive < kGone * configured) {
    finding.summary += fmt::format(" ({:.0f} were configured)", configured);
  }
  add_fact(context, verdict, facts, FactId::kInputWaitShare);
  return verdict;
}

}  // namespace

void judge_input_too_few_workers(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.too_few_workers";
  const InputDiagnosis input = diagnose_input(context);
  if (!applies(context, kId, InputCause::kTooFewWorkers, input, judgement)) return;
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start(context, kId, input);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  const double alive = facts.value_or(FactId::kWorkersAlive, 1);
  const double more = alive + input.free_cpus;
  finding.summary += fmt::format(
      ", which compute {} of their time, while {:.1f} CPUs that the training may use are idle.",
      percent(facts.value_or(FactId::kWorkersCpu, 0)), input.free_cpus);
  finding.fix = fmt::format("Raise num_workers to about {:.0f}.", std::max(alive + 1, more));
  add_fact(context, verdict, facts, FactId::kWorkersAlive);
  add_measure(context, verdict, "workers computing or waiting for a CPU",
              facts.value_or(FactId::kWorkersCpu, 0) + facts.value_or(FactId::kWorkersRunWait, 0),
              "fraction", "busy");
  add_fact(context, verdict, facts, FactId::kWorkersCpu);
  add_measure(context, verdict, "idle CPUs", input.free_cpus, "cpus");
  // The time to load a batch is shared by more workers; the wait can fall to nothing where the
  // step hides the rest.
  const double left = alive / std::max(more, alive + 1);
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, input.position, factor);
  };
  set_edits(verdict, waits(0), waits(std::min(0.12, left)), waits(std::max(0.5, left)),
            "waits for batches shrink to what the added workers leave, at best to nothing");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_decode_bound(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.decode_bound";
  const InputDiagnosis input = diagnose_input(context);
  if (!applies(context, kId, InputCause::kDecodeBound, input, judgement)) return;
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start(context, kId, input);
  model::Finding& finding = verdict.finding;
  finding.summary += fmt::format(
      ", which compute {} of their time and wait for a CPU {}; no CPU is free for another.",
      percent(facts.value_or(FactId::kWorkersCpu, 0)),
      percent(facts.value_or(FactId::kWorkersRunWait, 0)));
  add_measure(context, verdict, "workers computing or waiting for a CPU",
              facts.value_or(FactId::kWorkersCpu, 0) + facts.value_or(FactId::kWorkersRunWait, 0),
              "fraction", "busy");
  add_fact(context, verdict, facts, FactId::kWorkersCpu);
  add_fact(context, verdict, facts, FactId::kWorkersRunWait);
  add_fact(context, verdict, facts, FactId::kHostCpusUsable);
  add_fact(context, verdict, facts, FactId::kHostCpuBusy);
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, input.position, factor);
  };
  set_edits(verdict, waits(0), waits(0.5), waits(0.8),
            "loading a sample takes half of its CPU time (at worst four fifths; at best the step "
            "hides the rest)");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_one_worker(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.one_worker";
  const InputDiagnosis input = diagnose_input(context);
  if (!applies(context, kId, InputCause::kOneWorker, input, judgement)) return;
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start(context, kId, input);
  const double busiest = facts.value_or(FactId::kWorkersBusiest, 0);
  const double mean =
      facts.value_or(FactId::kWorkersCpu, 0) + facts.value_or(FactId::kWorkersRunWait, 0);
  const bool alone = facts.value_or(FactId::kWorkersAlive, 0) < 1.5;
  verdict.finding.summary += fmt::format(
      "{} busy {} of its time{}.", alone ? ", the only one left, which is" : ", of which one is",
      percent(busiest), alone ? "" : fmt::format(" and the mean is {}", percent(mean)));
  add_evidence(context, verdict, FactId::kWorkersBusiest, busiest, "busy");
  add_measure(context, verdict, "mean over the workers, of the busiest", mean / busiest, "fraction",
              "mean", {}, "<");
  add_fact(context, verdict, facts, FactId::kWorkersAlive);
  // Spread evenly, each has its share of the work.
  const double alive = std::max({1.0, facts.value_or(FactId::kWorkersAlive, 1),
                                 facts.value_or(FactId::kWorkersConfigured, 1)});
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, input.position, factor);
  };
  set_edits(verdict, waits(0), waits(std::min(0.5, 1 / alive)), waits(0.7),
            "the workers share the work, at best the step hides what is left");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_slow_storage(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.slow_storage";
  const InputDiagnosis input = diagnose_input(context);
  if (!applies(context, kId, InputCause::kSlowStorage, input, judgement)) return;
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start(context, kId, input);
  model::Finding& finding = verdict.finding;
  finding.summary +=
      fmt::format(", and they wait themselves {} of their time for something that is no CPU",
                  percent(facts.value_or(FactId::kWorkersBlocked, 0)));
  const double disk = facts.value_or(FactId::kWorkersDiskWait, 0);
  const double read = facts.value_or(FactId::kWorkersReadRate, 0);
  if (disk >= context.threshold(kId, "disk")) {
    finding.confidence = model::Confidence::kHigh;
    finding.summary +=
        fmt::format(": {} of it in reads of storage, {} per second.", percent(disk), bytes(read));
  } else {
    // Reads over a network sleep like locks do.
    finding.confidence = model::Confidence::kMedium;
    finding.summary +=
        ": hardly any of it in reads of a local disk, so a network (file system, object store), a "
        "lock or a sleep of their own.";
  }
  add_measure(context, verdict, "workers blocked while waited for, at least", input.blocked,
              "fraction", "blocked");
  add_fact(context, verdict, facts, FactId::kWorkersBlocked);
  add_fact(context, verdict, facts, FactId::kWorkersDiskWait);
  add_fact(context, verdict, facts, FactId::kWorkersReadRate);
  add_fact(context, verdict, facts, FactId::kWorkersCpu);
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, input.position, factor);
  };
  set_edits(verdict, waits(0), waits(0.2), waits(0.7),
            "waits for batches shrink to 0 to 70% (20% expected): data nearby, or more reads at a "
            "time");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_worker_affinity(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.worker_affinity";
  const InputDiagnosis input = diagnose_input(context);
  if (!applies(context, kId, InputCause::kWorkerAffinity, input, judgement)) return;
  const model::FactSet& facts = facts_of(context, input);
  Verdict verdict = start(context, kId, input);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  const double own = facts.value_or(FactId::kWorkersCpusAllowed, 1);
  const double allowed = facts.value_or(FactId::kHostCpusAllowed, own);
  finding.summary +=
      fmt::format(", which may run on {:.0f} CPU{} where the training process may use {:.0f}.", own,
                  own == 1 ? "" : "s", allowed);
  add_fact(context, verdict, facts, FactId::kWorkersCpusAllowed);
  add_fact(context, verdict, facts, FactId::kHostCpusAllowed);
  add_fact(context, verdict, facts, FactId::kWorkersRunWait, "run_wait");
  // Unbound, a worker no longer waits for its turn, unless other processes have the other CPUs.
  const double wait = facts.value_or(FactId::kWorkersRunWait, 0);
  constexpr double kRoom = 0.5;  // CPUs' worth of time that nobody uses
  const bool room = input.free_cpus >= kRoom;
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, input.position, factor);
  };
  set_edits(verdict, waits(0), waits(std::max(0.0, room ? 1 - wait : 1 - wait / 2)),
            waits(room ? 1 - wait / 2 : 1),
            room ? "the workers' waits for a CPU go, at worst half of them"
                 : "the workers' waits for a CPU go, half of them expected: other processes use "
                   "the other CPUs");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_input_too_many_workers(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "input.too_many_workers";
  const auto alive = context.largest(FactId::kWorkersAlive);
  if (!alive) return;  // without workers there are not too many of them
  const model::FactSet& facts = context.job().ranks[alive->position].facts;
  const auto usable = facts.value(FactId::kHostCpusUsable);
  if (!usable || alive->value < context.threshold(kId, "ratio") * *usable) return;
  // Workers that hardly use a CPU may be many.
  constexpr double kComputing = 0.3;
  if (facts.value_or(FactId::kWorkersCpu, 0) + facts.value_or(FactId::kWorkersRunWait, 0) <
      kComputing) {
    return;
  }
  // They are the cause where they take the training thread's turns.
  const CpuShortage shortage = cpu_shortage(context);
  const bool starve = shortage.position == alive->position && short_by_workers(context, shortage) &&
                      shortage.share() >= context.threshold("host.oversubscribed", "warn");
  Verdict verdict = start_verdict(kId, starve ? Role::kCause : Role::kNote);
  verdict.finding.confidence = model::Confidence::kMedium;
  verdict.finding.ranks = {context.timeline().ranks[alive->position].info.rank};
  verdict.finding.summary =
      fmt::format("{} share {:.3g} CPUs.", workers_in_words(alive->value), *usable);
  if (starve) {
    verdict.finding.severity = severity_for(context, "host.oversubscribed", shortage.share());
    verdict.finding.share_of_time = shortage.share();
    verdict.finding.summary +=
        fmt::format(" The training thread was ready to run and had no CPU {} of the time.",
                    percent(shortage.main));
    set_edits(verdict, without_waits(shortage, 1), without_waits(shortage, 0.6),
              without_waits(shortage, 0.1),
              "10 to 100% of the training thread's waits for a CPU go (60% expected)");
  } else {
    verdict.finding.no_prediction = "what taking turns costs is not known";
  }
  add_measure(context, verdict, "workers per usable CPU", alive->value / *usable, "ratio", "ratio");
  add_fact(context, verdict, facts, FactId::kWorkersRunWait);
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
