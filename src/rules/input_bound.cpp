#include "rules/input_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"
#include "rules/cpu_shortage.h"
#include "rules/input_cause.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "input.bound";
constexpr double kBursty = 5;  // longest wait over the median one

}  // namespace

void judge_input_bound(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kInputWaitShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputWaitShare));
  const model::RankAnalysis& rank = context.job().ranks[share->position];
  if (rank.pauses.input.kind == model::LoaderKind::kSingleProcess) return;
  // Without the starts of iterators and what was ready: other findings' matters.
  const double steady = steady_input_wait(context, share->position);
  if (steady < context.threshold(kId, "warn")) return;
  // Where a cause is known it is the finding, and this one would blame the same time again.
  const InputCause cause = diagnose_input(context).cause;
  if (cause != InputCause::kUnknown && cause != InputCause::kOther &&
      cause != InputCause::kNotBound) {
    return;
  }

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, steady);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = steady;
  finding.ranks = context.ranks_with(FactId::kInputWaitShare, context.threshold(kId, "warn"));
  const model::InputWaits& input = rank.pauses.input;
  finding.summary = fmt::format(
      "The training thread waits {} of the time for its loader's worker processes: {} per batch "
      "in the median, {} at most.",
      percent(steady), duration(static_cast<double>(input.p50)),
      duration(static_cast<double>(input.max)));
  if (static_cast<double>(input.max) > kBursty * static_cast<double>(input.p50)) {
    finding.summary +=
        " Few long waits among short ones: the workers deliver in bursts, all at the same time.";
  }
  add_evidence(context, verdict, FactId::kInputWaitShare, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_evidence(context, verdict, FactId::kInputWaitP50, static_cast<double>(input.p50));
  add_evidence(context, verdict, FactId::kInputWaitMax, static_cast<double>(input.max));
  const auto waits = [&](double factor) {
    return steady_wait_edit(context, share->position, factor);
  };
  set_edits(verdict, waits(0), waits(0.12), waits(0.5),
            "waits for batches shrink to 0 to 50% (12% expected): enough workers or a cheaper "
            "transform");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
