#include "rules/slow_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

// Device time that is idle while the host issues work or runs other code; all of the time where
// nothing ran on a device.
double host_bound(const model::RankAnalysis& rank) {
  if (rank.waterfall.devices.empty()) return 1;
  return rank.facts.value_or(FactId::kWaterfallIdleLaunch, 0) +
         rank.facts.value_or(FactId::kWaterfallIdleHost, 0);
}

analysis::Edit host_time(double factor) {
  analysis::Edit edit;
  edit.host_ops = edit.host_other = factor;
  return edit;
}

}  // namespace

void judge_debug_python_tracing(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "debug.python_tracing";
  bool known = false;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const model::RankAnalysis& rank = context.job().ranks[i];
    const std::string_view what = rank.facts.text(FactId::kHostPythonTracing);
    if (what.empty()) continue;
    known = true;
    const double waiting = host_bound(rank);
    if (what == "none") continue;
    const bool matters = waiting >= context.threshold(kId, "share");
    Verdict verdict = start_verdict(kId, matters ? Role::kCause : Role::kNote);
    model::Finding& finding = verdict.finding;
    finding.confidence = model::Confidence::kHigh;
    finding.ranks = {context.timeline().ranks[i].info.rank};
    // What tracing costs of that time is not measured: it stands with half of it.
    finding.share_of_time = matters ? waiting / 2 : 0;
    finding.summary = fmt::format("In the training process there is {}.", what);
    if (!rank.waterfall.devices.empty()) {
      finding.summary +=
          fmt::format(" The device is idle for the host's sake {} of the time.", percent(waiting));
      add_measure(context, verdict, "device idle for the host", waiting, "fraction", "share");
    }
    finding.where.push_back(std::string(what));
    set_edits(verdict, host_time(0.2), host_time(0.5), host_time(0.9),
              "Python runs at 1.1 to 5 times the speed (2 expected)");
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
  if (!known) not_judged(judgement, kId, context.missing(FactId::kHostPythonTracing));
}

void judge_debug_profiler_on(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "debug.profiler_on";
  const auto share = context.largest(FactId::kRunProfilerShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kRunProfilerShare));
  if (share->value < context.threshold(kId, "share")) return;
  const model::RankAnalysis& rank = context.job().ranks[share->position];
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = context.ranks_with(FactId::kRunProfilerShare, context.threshold(kId, "share"));
  finding.share_of_time = host_bound(rank) * share->value / 2;
  finding.summary =
      fmt::format("A profiler of PyTorch was on for {} of the run.", percent(share->value));
  add_evidence(context, verdict, FactId::kRunProfilerShare, share->value, "share");
  finding.no_prediction = "what the profiler costs depends on its options";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_host_governor(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "host.governor";
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const model::RankAnalysis& rank = context.job().ranks[i];
    const std::string_view governor = rank.facts.text(FactId::kHostGovernor);
    if (governor != "powersave" && governor != "conservative") continue;
    const double waiting = host_bound(rank);
    if (waiting < context.threshold(kId, "share")) continue;
    Verdict verdict = start_verdict(kId, Role::kNote);
    model::Finding& finding = verdict.finding;
    finding.confidence = model::Confidence::kLow;
    finding.ranks = {context.timeline().ranks[i].info.rank};
    finding.summary =
        fmt::format("The governor is {}, and the device waits for the host {} of the time.",
                    governor, percent(waiting));
    add_measure(context, verdict, "device idle for the host", waiting, "fraction", "share");
    finding.no_prediction = "the clocks of the CPUs are not recorded";
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
}

}  // namespace pyrometer::rules
