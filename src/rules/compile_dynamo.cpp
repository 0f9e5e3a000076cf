#include "rules/compile_dynamo.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

analysis::Edit kept(double part) {
  analysis::Edit edit;
  edit.compile = part;
  return edit;
}

}  // namespace

// pauses.compile is silent where this one speaks.
void judge_compile_recompilations(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "compile.recompilations";
  const auto count = context.largest(FactId::kCompileRecompiles);
  if (!count || count->value < context.threshold(kId, "count")) return;
  const auto share = context.largest(FactId::kPausesCompileShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPausesCompileShare));
  if (share->value < context.threshold(kId, "share")) return;
  constexpr double kCritical = 0.2;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity =
      share->value >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kPausesCompileShare, context.threshold(kId, "share"));
  finding.summary =
      fmt::format("torch.compile compiled again {:.0f} times, which takes {} of the time.",
                  count->value, percent(share->value));
  add_evidence(context, verdict, FactId::kCompileRecompiles, count->value, "count");
  add_evidence(context, verdict, FactId::kPausesCompileShare, share->value, "share");
  set_edits(verdict, kept(0), kept(0.02), kept(0.5),
            "no recompilation in the steady state; at worst half of it stays");
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_compile_graph_breaks(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "compile.graph_breaks";
  const auto count = context.largest(FactId::kCompileGraphBreaks);
  if (!count || count->value < context.threshold(kId, "count")) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  verdict.finding.ranks = {context.timeline().ranks[count->position].info.rank};
  verdict.finding.summary = fmt::format("{:.0f} graph breaks were counted.", count->value);
  add_evidence(context, verdict, FactId::kCompileGraphBreaks, count->value, "count");
  verdict.finding.no_prediction = "what fusion across the breaks would gain is not known";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
