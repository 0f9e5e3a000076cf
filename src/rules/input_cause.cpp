#include "rules/input_cause.h"

#include <algorithm>

#include "rules/cpu_shortage.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

// CPUs' worth of time that are idle and allowed.
double free_cpus(const model::FactSet& facts) {
  const double usable = facts.value_or(FactId::kHostCpusUsable, 0);
  const double online = facts.value_or(FactId::kHostCpusOnline, usable);
  const double idle = online * (1 - facts.value_or(FactId::kHostCpuBusy, 1));
  return std::max(0.0, std::min(idle, usable - facts.value_or(FactId::kHostTreeCpu, usable)));
}

// Workers may stand still while nobody waits for them: their queue is full, in a checkpoint or a
// validation. This is what of their standing still must have been while the training waited, at
// least, of that time.
double blocked_while_waited_for(double blocked, double steady) {
  return steady > 0 ? std::max(0.0, (blocked - (1 - steady)) / steady) : 0;
}

InputCause cause_of(const Context& context, const InputDiagnosis& input,
                    const CpuShortage& shortage) {
  const model::FactSet& facts = context.job().ranks[input.position].facts;
  const auto cpu = facts.value(FactId::kWorkersCpu);
  const auto wait = facts.value(FactId::kWorkersRunWait);
  if (!cpu || !wait) return InputCause::kUnknown;
  const double allowed = facts.value_or(FactId::kHostCpusAllowed, 0);
  const double own = facts.value_or(FactId::kWorkersCpusAllowed, allowed);
  if (own < allowed && own < facts.value_or(FactId::kWorkersAlive, 0) &&
      *wait >= context.threshold("input.worker_affinity", "run_wait")) {
    return InputCause::kWorkerAffinity;
  }
  // All the work is one worker's: the others stand still, but not for storage's sake.
  const double busiest = facts.value_or(FactId::kWorkersBusiest, 0);
  constexpr double kSeveral = 1.5;
  constexpr double kOne = 0.7;  // workers start and end within the steps
  const double alive = facts.value_or(FactId::kWorkersAlive, 0);
  const bool idle =
      alive >= kSeveral && *cpu + *wait < context.threshold("input.one_worker", "mean") * busiest;
  // Those without data may have ended; where iterators start anew, all of them end.
  const bool ended = alive < kSeveral && alive >= kOne &&
                     facts.value_or(FactId::kWorkersConfigured, 0) >= kSeveral &&
                     facts.value_or(FactId::kInputIteratorStarts, 0) == 0;
  if ((idle || ended) && busiest >= context.threshold("input.one_worker", "busy")) {
    return InputCause::kOneWorker;
  }
  // What follows from how the workers are set up comes first: it holds on any machine.
  if (shortage.position == input.position && explains_input(shortage, input.steady)) {
    return InputCause::kCpuShortage;
  }
  if (input.blocked >= context.threshold("input.slow_storage", "blocked")) {
    return InputCause::kSlowStorage;
  }
  if (*cpu + *wait < context.threshold("input.too_few_workers", "busy")) return InputCause::kOther;
  // Room for one more worker.
  return input.free_cpus >= 1 ? InputCause::kTooFewWorkers : InputCause::kDecodeBound;
}

}  // namespace

InputDiagnosis diagnose_input(const Context& context) {
  InputDiagnosis input;
  const auto share = context.largest(FactId::kInputWaitShare);
  if (!share) return input;
  input.position = share->position;
  input.steady = steady_input_wait(context, share->position);
  if (input.steady < context.threshold("input.bound", "warn")) return input;
  const model::FactSet& facts = context.job().ranks[input.position].facts;
  input.free_cpus = free_cpus(facts);
  input.blocked =
      blocked_while_waited_for(facts.value_or(FactId::kWorkersBlocked, 0), input.steady);
  const CpuShortage shortage = cpu_shortage(context);
  const bool applies = shortage.position == input.position && shortage.reason != ShortOf::kNothing;
  input.own = input.steady - (applies ? std::min(shortage.input, input.steady) : 0);
  input.cause = cause_of(context, input, shortage);
  return input;
}

}  // namespace pyrometer::rules
