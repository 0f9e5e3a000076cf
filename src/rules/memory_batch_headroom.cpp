#include "rules/memory_batch_headroom.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "memory.batch_headroom";
constexpr double kMostlyEmpty = 0.5;

analysis::Edit batch(double factor) {
  analysis::Edit edit;
  edit.batch = factor;
  return edit;
}

}  // namespace

void judge_memory_batch_headroom(const Context& context, Judgement& judgement) {
  const auto small = context.largest(FactId::kKernelsSmallGridShare);
  if (!small) return not_judged(judgement, kId, context.missing(FactId::kKernelsSmallGridShare));
  const model::FactSet& facts = context.job().ranks[small->position].facts;
  const double idle = facts.value_or(FactId::kWaterfallIdleLaunch, 0) +
                      facts.value_or(FactId::kWaterfallIdleHost, 0);
  if (idle < context.threshold(kId, "launch") || small->value < kMostlyEmpty) return;
  const auto memory = context.largest(FactId::kMemoryPeakFraction);
  if (!memory) return not_judged(judgement, kId, context.missing(FactId::kMemoryPeakFraction));
  if (memory->value > context.threshold(kId, "memory")) return;

  Verdict verdict = start_verdict(kId, Role::kResidual);
  model::Finding& finding = verdict.finding;
  finding.share_of_time = idle;
  finding.summary = fmt::format(
      "Kernels with fewer blocks than the GPU has multiprocessors make up {} of the kernel time, "
      "and {} of the memory is free: larger batches would cost little.",
      percent(small->value), percent(1 - memory->value));
  add_evidence(context, verdict, FactId::kKernelsSmallGridShare, small->value);
  add_measure(context, verdict, "idle while the host issues work", idle, "fraction", "launch");
  add_evidence(context, verdict, FactId::kMemoryPeakFraction, memory->value, "memory", {}, "<=");
  set_edits(verdict, batch(8), batch(4), batch(2),
            "batch 2 to 8 times as large (4 expected); step time per original batch");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
