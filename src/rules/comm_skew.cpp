#include "rules/comm_skew.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "comm.skew";
constexpr const char* kLoaderCode =
    "DataLoader(dataset, batch_size=..., num_workers=8, persistent_workers=True, pin_memory=True)";

analysis::Edit balanced(double to_fastest) {
  analysis::Edit edit;
  edit.no_skew = true;
  edit.skew_to_fastest = to_fastest;
  return edit;
}

// The slow rank only issues work more slowly, in a trace where the profiler takes much of the
// host's time: without the profiler that difference is mostly gone.
bool is_profiler_jitter(const Context& context) {
  constexpr double kMuch = 0.2;
  const model::CrossRank& cross = context.job().cross;
  if (cross.slow_rank == model::kNone || cross.slow_cause != "host") return false;
  const model::FactSet& facts = context.job().ranks[cross.slow_rank].facts;
  return facts.value_or(FactId::kWaterfallIdleLaunch, 0) >
             facts.value_or(FactId::kWaterfallIdleHost, 0) &&
         facts.value_or(FactId::kDilationStepShare, 0) > kMuch;
}

std::string reason_in_words(std::string_view cause) {
  if (cause == "input") return "waits longer for its data loader";
  if (cause == "host") return "loses time in host code";
  if (cause == "compute") return "computes longer";
  if (cause == "copy") return "copies longer";
  return "is slowed by " + std::string(cause);
}

// What a recording knows of the machine around the slow rank that fits what it is slow at: a hot or
// shared GPU computes more slowly, a host without CPU time is slow at everything else.
std::string machine_reason(const model::FactSet& facts, std::string_view cause) {
  const auto over = [&facts](FactId id, double least) { return facts.value_or(id, 0) >= least; };
  constexpr double kTold = 0.05;
  if (cause == "compute") {
    if (over(FactId::kDeviceThermalCapped, kTold)) {
      return fmt::format(" Its GPU's clocks were held down by temperature {} of the time.",
                         percent(facts.value_or(FactId::kDeviceThermalCapped, 0)));
    }
    if (over(FactId::kDeviceOthersUtil, kTold)) {
      return fmt::format(" Another process computed on its GPU {} of the time.",
                         percent(facts.value_or(FactId::kDeviceOthersUtil, 0)));
    }
  } else if (over(FactId::kHostMainRunWait, kTold)) {
    return fmt::format(" Its training thread was ready and had no CPU {} of the time.",
                       percent(facts.value_or(FactId::kHostMainRunWait, 0)));
  }
  return {};
}

std::string fix_for(std::string_view cause, std::int32_t rank) {
  if (cause == "input") {
    return fmt::format(
        "Make rank {}'s data loader as fast as the others': same workers, same "
        "storage, pinned memory.",
        rank);
  }
  if (cause == "host") {
    return fmt::format(
        "Remove the extra host work of rank {} (logging, checkpoints, metrics that "
        "only one rank does), or move it to another thread.",
        rank);
  }
  if (cause == "compute") {
    return fmt::format(
        "Give every rank the same amount of work: rank {} computes longer. Group "
        "samples of similar length, split by tokens and not by samples.",
        rank);
  }
  return fmt::format("Remove what slows rank {}.", rank);
}

}  // namespace

void judge_comm_skew(const Context& context, Judgement& judgement) {
  if (context.job().ranks.size() < 2) {
    return not_judged(judgement, kId, "needs at least two ranks");
  }
  const model::CrossRank& cross = context.job().cross;
  if (!cross.matched) {
    return not_judged(judgement, kId,
                      cross.how.empty() ? "no collectives were matched" : cross.how);
  }
  const auto share = context.largest(FactId::kWaterfallCommSkew);
  if (!share || share->value < context.threshold(kId, "warn")) return;
  if (cross.imbalance < context.threshold(kId, "imbalance")) return;

  if (is_profiler_jitter(context)) {
    return not_judged(judgement, kId,
                      "the ranks differ in how fast their host issues work, and the profiler's own "
                      "cost makes up much of that");
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = context.job().facts.value_or(FactId::kWaterfallCommSkew, share->value);
  finding.summary =
      fmt::format("Rank {} spends {} of its time waiting for a slower rank.",
                  context.timeline().ranks[share->position].info.rank, percent(share->value));
  if (cross.slow_rank != model::kNone) {
    const std::int32_t slow = context.timeline().ranks[cross.slow_rank].info.rank;
    finding.ranks = {slow};
    finding.where.push_back(fmt::format("rank {}", slow));
    finding.summary += fmt::format(
        " The others wait for rank {}{}.", slow,
        cross.slow_cause.empty() ? std::string() : ", which " + reason_in_words(cross.slow_cause));
    finding.summary += machine_reason(context.job().ranks[cross.slow_rank].facts, cross.slow_cause);
    if (!cross.slow_cause.empty()) {
      finding.fix = fix_for(cross.slow_cause, slow);
      finding.fix_code = cross.slow_cause == "input" ? kLoaderCode : "";
    }
  }
  add_evidence(context, verdict, FactId::kWaterfallCommSkew, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_measure(context, verdict, "balance.imbalance", cross.imbalance, "fraction", "imbalance");
  const bool avoidable = cross.slow_cause == "input" || cross.slow_cause == "host";
  set_edits(verdict, balanced(1), balanced(avoidable ? 1 : 0.3), balanced(0),
            "ranks arrive together: at worst at the mean of their own times, at best all as fast "
            "as the fastest");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
