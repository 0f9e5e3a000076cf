#include "rules/launch_bound.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "launch.bound";
// A graph launch costs the host about 10 µs and some 50 ns per kernel node; own measurement on an
// H200: 2.0 ms step of a captured training step against its device time.
constexpr double kGraphLaunch = 10e3;
constexpr double kPerNode = 50;

analysis::Edit graph(double kernels, double other) {
  analysis::Edit edit;
  edit.graph_launch_ns = kGraphLaunch + kPerNode * kernels;
  edit.host_other = other;
  return edit;
}

}  // namespace

void judge_launch_bound(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kWaterfallIdleLaunch);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kWaterfallIdleLaunch));
  if (share->value < context.threshold(kId, "warn")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const double kernels = facts.value_or(FactId::kKernelsPerStep, 0);
  // What the profiler adds to host time is out of this figure.
  const double gained = gain(context, graph(kernels, 1));
  if (gained < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, gained);
  finding.confidence = model::Confidence::kMedium;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kWaterfallIdleLaunch, context.threshold(kId, "warn"));
  finding.summary = fmt::format(
      "The device idles {} of the time because the host is still issuing work: {:.0f} kernels per "
      "step, {} each in the median.",
      percent(share->value), kernels, duration(facts.value_or(FactId::kKernelsMedianNs, 0)));
  add_evidence(context, verdict, FactId::kWaterfallIdleLaunch, share->value, "warn");
  add_measure(context, verdict, "predicted gain", gained, "fraction", "warn");
  add_evidence(context, verdict, FactId::kKernelsMedianNs,
               facts.value_or(FactId::kKernelsMedianNs, 0));
  add_evidence(context, verdict, FactId::kLaunchQueueEmptyShare,
               facts.value_or(FactId::kLaunchQueueEmptyShare, 0));
  analysis::Edit partly;
  partly.host_ops = 0.75;
  set_edits(verdict, graph(kernels, 0.2), graph(kernels, 0.6), partly,
            "one CUDA graph launch per step and 20 to 60% of the code between operators; at worst "
            "a quarter of the issue time goes");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
