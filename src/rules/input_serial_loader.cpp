#include "rules/input_serial_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "input.serial_loader";

// More workers than these gain nothing: the CPU time of loader and training together has to fit on
// the CPUs that they get. Large where the CPUs are not known.
struct UsefulWorkers {
  double best = 1000, expected = 1000, worst = 1000;
};

UsefulWorkers useful_workers(const model::FactSet& facts, double loader) {
  const auto used = facts.value(FactId::kHostTreeCpu);
  const auto usable = facts.value(FactId::kHostCpusUsable);
  const auto busy = facts.value(FactId::kHostCpuBusy);
  if (!used || !usable || !busy || *usable <= 0 || *used <= 0) return {};
  const double online = facts.value_or(FactId::kHostCpusOnline, *usable);
  const auto workers = [&](double cpus) {
    const double shortest = std::min(1.0, *used / std::min(cpus, std::max(*used, *usable)));
    return loader / shortest;  // `shortest`: the step then, of the present one
  };
  // At worst what nobody uses now, at best all of them; more processes get a larger share of CPUs
  // that others use as well.
  constexpr double kLargerShare = 1.5;
  const double idle = *used + online * (1 - *busy);
  return {workers(*usable), workers(std::max(idle, kLargerShare * *used)), workers(idle)};
}

analysis::Edit workers(double count) {
  analysis::Edit edit;
  edit.loader_workers = count;
  return edit;
}

}  // namespace

void judge_input_serial_loader(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kInputWaitShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kInputWaitShare));
  const model::RankAnalysis& rank = context.job().ranks[share->position];
  if (rank.pauses.input.kind != model::LoaderKind::kSingleProcess) return;
  if (share->value < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share->value;
  finding.ranks = context.ranks_with(FactId::kInputWaitShare, context.threshold(kId, "warn"));
  const model::InputWaits& input = rank.pauses.input;
  finding.summary = fmt::format(
      "The training thread spends {} of the time in the single-process data loader, {} per "
      "batch{}.",
      percent(share->value), duration(static_cast<double>(input.p50)),
      rank.waterfall.devices.empty() ? "" : ", and the GPU waits meanwhile");
  add_evidence(context, verdict, FactId::kInputWaitShare, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_evidence(context, verdict, FactId::kInputWaitP50, static_cast<double>(input.p50));
  if (input.operators > 0) {
    add_evidence(context, verdict, FactId::kInputOperatorsPerWait,
                 rank.facts.value_or(FactId::kInputOperatorsPerWait, 0));
  }
  const UsefulWorkers most = useful_workers(rank.facts, share->value);
  set_edits(verdict, workers(std::min(16.0, most.best)), workers(std::min(8.0, most.expected)),
            workers(std::min(4.0, most.worst)),
            "the loader's work moves to 4 to 16 worker processes (8 expected) and overlaps with "
            "the step");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
