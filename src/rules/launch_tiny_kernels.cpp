#include "rules/launch_tiny_kernels.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "launch.tiny_kernels";
constexpr double kFused = 0.7;
constexpr double kLittle = 0.25;
constexpr double kManyCells = 8;

analysis::Edit issue(double kept) {
  analysis::Edit edit;
  edit.host_ops = kept;
  edit.host_other = kept;
  return edit;
}

}  // namespace

void judge_launch_tiny_kernels(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kPatternsLoopShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kPatternsLoopShare));
  if (share->value < context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const double per_step = facts.value_or(FactId::kPatternsTopSequencePerStep, 0);
  if (per_step < context.threshold(kId, "count")) return;
  const double fused = 1 - share->value * kFused;
  const double gained = gain(context, issue(fused));
  if (gained < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kPatternsLoopShare, context.threshold(kId, "share"));
  const double cells = facts.value_or(FactId::kOpsRnnCellsPerStep, 0);
  finding.summary = fmt::format(
      "A run of {:.0f} small kernels repeats {:.0f} times per step; such loops span {} of the "
      "time.",
      facts.value_or(FactId::kPatternsTopSequenceLength, 0), per_step, percent(share->value));
  if (cells >= kManyCells) {
    finding.summary += fmt::format(" {:.0f} recurrent cells are run one by one.", cells);
    finding.fix = "Use the library's fused recurrent layer instead of a Python loop over cells.";
    finding.fix_code = "rnn = torch.nn.LSTM(input_size, hidden_size)   # not a loop of LSTMCell";
  }
  add_evidence(context, verdict, FactId::kPatternsLoopShare, share->value, "share");
  add_evidence(context, verdict, FactId::kPatternsTopSequencePerStep, per_step, "count");
  if (cells > 0) add_evidence(context, verdict, FactId::kOpsRnnCellsPerStep, cells);
  set_edits(verdict, issue(1 - share->value), issue(fused), issue(1 - share->value * kLittle),
            "the loops' issue time shrinks by a quarter to all of it (70% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
