#include "rules/launch_host_code.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "model/host_lines.h"
#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "launch.host_code";
constexpr double kExpected = 0.1;

analysis::Edit host_code(double kept) {
  analysis::Edit edit;
  edit.host_other = kept;
  return edit;
}

// Part of the samples outside the framework's calls whose innermost frame is PyTorch's own Python:
// losses and the like, computed outside of a module, and the steps of its optimizers. Nothing where
// the samples are too few to tell.
std::optional<double> part_in_torch(const model::RecordedRun& run) {
  constexpr std::int64_t kEnough = 20;  // a second's worth
  std::int64_t all = 0;
  std::int64_t torch = 0;
  for (const model::HostLine& line : model::host_lines_of(run)) {
    if (line.phase != "host") continue;
    all += line.samples;
    if (line.innermost.starts_with("torch/")) torch += line.samples;
  }
  if (all < kEnough) return std::nullopt;
  return static_cast<double>(torch) / static_cast<double>(all);
}

// A run on the CPU alone has no idle device to tell by: there the program's own code between the
// framework's calls is looked at. Operators that it calls itself cannot be told from it, so it has
// to be more than the forward pass of a model without modules would be.
void judge_without_device(const Context& context, OnRank own, Judgement& judgement) {
  const model::FactSet& facts = context.job().ranks[own.position].facts;
  const auto& run = context.timeline().ranks[own.position].run;
  const std::optional<double> in_torch = run == nullptr ? std::nullopt : part_in_torch(*run);
  if (!in_torch) {
    return not_judged(judgement, kId, "fewer than 20 samples of the program's own lines");
  }
  const double share = own.value * (1 - *in_torch);
  const double framework = facts.value_or(FactId::kPausesFrameworkShare, 0);
  constexpr double kForwardOfRest = 0.7;  // backward and update take longer
  if (share < 2 * context.threshold(kId, "warn") || share < kForwardOfRest * framework) return;
  const auto kept = [&](double part) { return host_code(*in_torch + (1 - *in_torch) * part); };
  if (gain(context, kept(kExpected)) < context.threshold(kId, "warn")) return;
  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.title = "The program's own code between forward and update takes long";
  finding.severity = severity_for(context, kId, share);
  finding.confidence = model::Confidence::kMedium;
  finding.share_of_time = share;
  finding.ranks = {context.timeline().ranks[own.position].info.rank};
  finding.summary = fmt::format(
      "The training thread spends {} of the time outside of forward, backward and update, of a "
      "data loader and of known pauses.",
      percent(share));
  add_measure(context, verdict, "time in the program's own code", share, "fraction");
  add_fact(context, verdict, facts, FactId::kPausesFrameworkShare);
  set_edits(verdict, kept(0), kept(kExpected), kept(0.5),
            "the code moves out of the training thread: 0 to 50% of it stays (10% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace

void judge_launch_host_code(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kWaterfallIdleHost);
  if (!share) {
    const auto own = context.largest(FactId::kPausesOwnCodeShare);
    if (own) return judge_without_device(context, *own, judgement);
    return not_judged(judgement, kId, context.missing(FactId::kWaterfallIdleHost));
  }
  if (share->value < context.threshold(kId, "warn")) return;
  // The interpreter between two operators belongs to issuing work.
  const double issuing =
      context.job().ranks[share->position].facts.value_or(FactId::kWaterfallIdleLaunch, 0);
  if (share->value < issuing) return;
  const double gained = gain(context, host_code(kExpected));
  if (gained < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, gained);
  finding.confidence = model::Confidence::kMedium;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kWaterfallIdleHost, context.threshold(kId, "warn"));
  finding.summary = fmt::format(
      "The device idles {} of the time while the training thread runs code that is neither an "
      "operator nor a CUDA call.",
      percent(share->value));
  add_evidence(context, verdict, FactId::kWaterfallIdleHost, share->value, "warn");
  add_measure(context, verdict, "predicted gain", gained, "fraction", "warn");
  set_edits(verdict, host_code(0), host_code(kExpected), host_code(0.5),
            "the code moves out of the training thread: 0 to 50% of it stays (10% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
