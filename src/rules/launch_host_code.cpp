#include "rules/launch_host_code.h"

#include <fmt/format.h>

#include <utility>

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

}  // namespace

void judge_launch_host_code(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kWaterfallIdleHost);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kWaterfallIdleHost));
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
