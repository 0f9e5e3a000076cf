#include "rules/cpu_shortage.h"

#include <algorithm>

namespace pyrometer::rules {
namespace {

using model::FactId;

// Below this a wait is noise, whatever its reason: the findings' own thresholds come on top.
constexpr double kNoise = 0.02;
// Other processes that use less of the usable CPUs are no reason for a wait.
constexpr double kOthersUse = 0.2;

CpuShortage measure(const Context& context, std::size_t position) {
  const model::FactSet& facts = context.job().ranks[position].facts;
  CpuShortage shortage;
  shortage.position = position;
  const auto main = facts.value(FactId::kHostMainRunWait);
  const auto usable = facts.value(FactId::kHostCpusUsable);
  if (!main || !usable || *usable <= 0) return shortage;
  shortage.main = std::clamp(*main, 0.0, 1.0);
  shortage.workers = std::clamp(facts.value_or(FactId::kWorkersRunWait, 0), 0.0, 1.0);
  const double steady = steady_input_wait(context, position);
  shortage.input = steady * shortage.workers;
  shortage.idle = facts.value_or(FactId::kWorkersBlocked, 0);
  shortage.waits = facts.value_or(FactId::kInputWaitShare, 0);
  shortage.fetch = facts.value_or(FactId::kInputReadyShare, 0);
  shortage.ready = facts.value_or(FactId::kHostThreadsRunWait, 0) +
                   facts.value_or(FactId::kWorkersAlive, 0) * shortage.workers;
  if (shortage.share() < kNoise) return shortage;

  const double throttled = facts.value_or(FactId::kHostQuotaThrottledPeriods, 0);
  const double allowed = facts.value_or(FactId::kHostCpusAllowed, 0);
  const double online = facts.value_or(FactId::kHostCpusOnline, allowed);
  const double used = facts.value_or(FactId::kHostTreeCpu, 0);
  const double busy = facts.value_or(FactId::kHostCpuBusy, 0);
  constexpr double kFull = 0.8;  // of the usable CPUs
  // Threads that ran or were ready to: what of the waiting would be left on CPUs of one's own, the
  // command's own threads do to each other.
  const double own_waits = std::max(0.0, used + shortage.ready - *usable);
  const bool by_others =
      used < context.threshold("host.cpu_saturated", "own") * *usable ||
      (online * busy - used >= kOthersUse * *usable && own_waits < shortage.ready / 2);
  if (facts.value_or(FactId::kHostCpuQuota, allowed) < allowed &&
      throttled >= context.threshold("host.cpu_quota", "throttled")) {
    shortage.reason = ShortOf::kQuota;
  } else if (allowed <= context.threshold("host.affinity", "allowed") * online &&
             (used >= kFull * *usable ||
              (facts.has(FactId::kHostTreeCpu) && own_waits >= shortage.ready / 2))) {
    shortage.reason = ShortOf::kAffinity;
  } else if (facts.has(FactId::kHostTreeCpu) &&
             busy >= context.threshold("host.cpu_saturated", "busy") && by_others) {
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
  const double others = rank.facts.value_or(FactId::kInputIteratorStartShare, 0) +
                        rank.facts.value_or(FactId::kInputReadyShare, 0) +
                        rank.facts.value_or(FactId::kInputUnpinnedShare, 0);
  return share - std::min(share, others);
}

analysis::Edit steady_wait_edit(const Context& context, std::size_t position, double factor) {
  const double all = context.job().ranks[position].facts.value_or(FactId::kInputWaitShare, 0);
  const double part = all > 0 ? std::min(1.0, steady_input_wait(context, position) / all) : 1;
  analysis::Edit edit;
  edit.input_wait = 1 - (1 - factor) * part;
  return edit;
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

analysis::Edit without_waits(const CpuShortage& shortage, double part) {
  analysis::Edit edit;
  edit.host_ops = edit.host_other = edit.cpu_ops = 1 - part * shortage.main;
  // Calls for a batch last as long as the workers lack CPUs, or the thread itself does.
  const double lost = shortage.input + shortage.fetch * shortage.main;
  if (lost > 0 && shortage.waits > 0) {
    edit.input_wait = std::max(0.0, 1 - part * lost / shortage.waits);
  }
  return edit;
}

bool short_by_workers(const Context& context, const CpuShortage& shortage) {
  const model::FactSet& facts = context.job().ranks[shortage.position].facts;
  const double alive = facts.value_or(FactId::kWorkersAlive, 0);
  const double usable = facts.value_or(FactId::kHostCpusUsable, 0);
  return shortage.reason == ShortOf::kOwn && usable > 0 &&
         alive >= context.threshold("input.too_many_workers", "ratio") * usable &&
         alive * shortage.workers >= shortage.ready / 2;
}

bool explains_input(const CpuShortage& shortage, double steady) {
  if (shortage.reason == ShortOf::kNothing || steady <= 0) return false;
  // What the training thread itself lacks makes its waits longer as well: it is not there when a
  // batch comes. Workers that are behind are busy all the time; those that wait for it are not.
  constexpr double kMostly = 0.5;
  return shortage.input > steady / 2 || (shortage.main > steady && shortage.idle >= kMostly);
}

}  // namespace pyrometer::rules
