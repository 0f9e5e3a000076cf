#include "rules/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

const model::FactSet& facts_of(const Context& context, const OnRank& at) {
  return context.job().ranks[at.position].facts;
}

}  // namespace

void judge_host_swapping(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.swapping";
  const auto swap = context.largest(FactId::kHostSwapRate);
  const auto faults = context.largest(FactId::kHostMajorFaults);
  if (!swap || !faults) {
    return not_judged(judgement, kId,
                      context.missing(!swap ? FactId::kHostSwapRate : FactId::kHostMajorFaults));
  }
  // Swapping of others harms nobody here; faults alone are the first reading of mapped data.
  if (swap->value < context.threshold(kId, "swap") ||
      faults->value < context.threshold(kId, "faults")) {
    return;
  }
  const model::FactSet& facts = facts_of(context, *faults);
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[faults->position].info.rank};
  // Reading a page takes about 0.1 ms from an SSD and 10 ms from a disk; where the kernel counts
  // the wait, that is it.
  constexpr double kPageRead = 1e-3;  // s
  finding.share_of_time =
      std::min(1.0, facts.value(FactId::kHostIoWait).value_or(faults->value * kPageRead));
  finding.summary = fmt::format(
      "{} per second go to and from swap, and the training reads {:.0f} pages back "
      "from disk per second.",
      bytes(swap->value), faults->value);
  add_evidence(context, verdict, FactId::kHostSwapRate, swap->value, "swap");
  add_evidence(context, verdict, FactId::kHostMajorFaults, faults->value, "faults");
  add_fact(context, verdict, facts, FactId::kHostIoWait);
  finding.no_prediction = "what the pages' owners wait for is not known";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_memory_exhaustion(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.memory_exhaustion";
  const auto falling = context.largest(FactId::kHostMemoryFalling);
  if (!falling) return not_judged(judgement, kId, context.missing(FactId::kHostMemoryFalling));
  const model::FactSet& facts = facts_of(context, *falling);
  const double available = facts.value_or(FactId::kHostMemoryAvailable, 0);
  if (falling->value <= 0 || available <= 0) return;
  const double hours = available / falling->value / 3600;
  const double consistency = facts.value_or(FactId::kHostMemoryFallingConsistency, 0);
  if (hours > context.threshold(kId, "hours") ||
      consistency < context.threshold(kId, "consistency")) {
    return;
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  // A cache that fills looks the same for a while.
  finding.confidence = model::Confidence::kMedium;
  finding.ranks = {context.timeline().ranks[falling->position].info.rank};
  finding.summary = fmt::format(
      "The memory at hand falls by {} per second; {} are left, for {:.2g} h at this rate.",
      bytes(falling->value), bytes(available), hours);
  const auto growth = facts.value(FactId::kWorkersMemoryGrowth);
  const double workers = facts.value_or(FactId::kWorkersAlive, 0);
  if (growth && workers > 0) {
    constexpr double kMostOfIt = 0.5;
    finding.summary +=
        *growth * workers >= kMostOfIt * falling->value
            ? fmt::format(" The loader's workers grow by {} per second each.", bytes(*growth))
            : " The loader's workers do not grow themselves: where nothing else on the machine "
              "does, they copy pages that they shared with the training process.";
  }
  add_evidence(context, verdict, FactId::kHostMemoryFalling, falling->value);
  add_evidence(context, verdict, FactId::kHostMemoryFallingConsistency, consistency, "consistency");
  add_measure(context, verdict, "hours until nothing is left", hours, "h", "hours", {}, "<=");
  add_fact(context, verdict, facts, FactId::kWorkersMemoryGrowth);
  finding.no_prediction = "a failure to come, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_shm_full(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.shm_full";
  const auto used = context.largest(FactId::kHostShmUsed);
  if (!used) return not_judged(judgement, kId, context.missing(FactId::kHostShmUsed));
  if (used->value < context.threshold(kId, "warn")) return;
  const model::FactSet& facts = facts_of(context, *used);
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[used->position].info.rank};
  finding.summary = fmt::format("{} of the {} of /dev/shm were in use.", percent(used->value),
                                bytes(facts.value_or(FactId::kHostShmTotal, 0)));
  add_evidence(context, verdict, FactId::kHostShmUsed, used->value, "warn");
  add_fact(context, verdict, facts, FactId::kHostShmTotal);
  finding.no_prediction = "a failure to come, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
