#include "rules/cpu_shortage.h"

#include <algorithm>

namespace pyrometer::rules {
namespace {

using model::FactId;

// Below this a wait is noise, whatever its reason: the findings' own thresholds come on top.
constexpr double kNoise = 0.02;

CpuShortage measure(const Context& context, std::size_t position) {
  const model::FactSet& facts = context.job().ranks[position].facts;
  CpuShortage shortage;
  shortage.position = position;
  const auto main = facts.value(FactId::kHostMainRunWait);
  const auto usable = facts.value(FactId::kHostCpusUsable);
  if (!main || !usable || *usable <= 0) return shortage;
  shortage.main = std::clamp(*main, 0.0, 1.0);
  shortage.workers = std::clamp(facts.value_or(FactId::kWorkersRunWait, 0), 0.0, 1.0);
  shortage.input = steady_input_wait(context, position) * shortage.workers;
  shortage.ready = facts.value_or(FactId::kHostThreadsRunWait, 0) +
                   facts.value_or(FactId::kWorkersAlive, 0) * shortage.workers;
  if (shortage.share() < kNoise) return shortage;

  const double throttled = facts.value_or(FactId::kHostQuotaThrottledPeriods, 0);
  const double allowed = facts.value_or(FactId::kHostCpusAllowed, 0);
  const double online = facts.value_or(FactId::kHostCpusOnline, allowed);
  const double used = facts.value_or(FactId::kHostTreeCpu, 0);
  const double busy = facts.value_or(FactId::kHostCpuBusy, 0);
  constexpr double kFull = 0.8;  // of the usable CPUs
  if (facts.value_or(FactId::kHostCpuQuota, allowed) < allowed &&
      throttled >= context.threshold("host.cpu_quota", "throttled")) {
    shortage.reason = ShortOf::kQuota;
  } else if (allowed <= context.threshold("host.affinity", "allowed") * online &&
             used >= kFull * *usable) {
    shortage.reason = ShortOf::kAffinity;
  } else if (facts.has(FactId::kHostTreeCpu) &&
             busy >= context.threshold("host.cpu_saturated", "busy") &&
             used < context.threshold("host.cpu_saturated", "own") * *usable) {
    shortage.reason = ShortOf::kOthers;
  } else if (shortage.ready >= context.threshold("host.oversubscribed", "ready") &&
             facts.has(FactId::kHostTreeCpu) &&
             used >= context.threshold("host.cpu_saturated", "own") * *usable) {
    shortage.reason = ShortOf::kOwn;
    // Fewer threads would not make the workers' own work less: only the training thread's wait
    // for its turn can be won back.
    shortage.input = 0;
  }
  return shortage;
}

}  // namespace

double steady_input_wait(const Context& context, std::size_t position) {
  const model::RankAnalysis& rank = context.job().ranks[position];
  if (rank.pauses.input.kind == model::LoaderKind::kSingleProcess) return 0;
  const double share = rank.facts.value_or(FactId::kInputWaitShare, 0);
  return share - std::min(share, rank.facts.value_or(FactId::kInputIteratorStartShare, 0));
}

CpuShortage cpu_shortage(const Context& context) {
  CpuShortage worst;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const CpuShortage one = measure(context, i);
    const bool known = one.reason != ShortOf::kNothing;
    const bool worst_known = worst.reason != ShortOf::kNothing;
    if (i == 0 || (known && !worst_known) ||
        (known == worst_known && one.share() > worst.share())) {
      worst = one;
    }
  }
  return worst;
}

bool explains_input(const CpuShortage& shortage, double steady) {
  return shortage.reason != ShortOf::kNothing && shortage.input > steady / 2;
}

}  // namespace pyrometer::rules
