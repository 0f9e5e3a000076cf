#include "rules/pauses_compile.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "pauses.compile";
constexpr double kCritical = 0.2;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.compile = part;
  return edit;
}

}  // namespace

void judge_pauses_compile(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPausesCompileShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesCompileShare));
  if (share->value < context.threshold(kId, "share")) return;
  // Where recompilations were counted they are the finding.
  const auto again = context.largest(FactId::kCompileRecompiles);
  if (again && again->value >= context.threshold("compile.recompilations", "count")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kPausesCompileShare, context.threshold(kId, "share"));
  finding.summary = fmt::format(
      "Compilation takes {} of the time, in steps that should run compiled code already.",
      percent(share->value));
  finding.summary += where_counted(context, share->position, model::Cause::kIdleCompile);
  add_evidence(context, verdict, FactId::kPausesCompileShare, share->value, "share");
  set_edits(verdict, kept(0), kept(0.02), kept(0.5),
            "no recompilation in the steady state; at worst half of it stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
