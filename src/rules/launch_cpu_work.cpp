#include "rules/launch_cpu_work.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "launch.cpu_work";
constexpr double kCritical = 0.3;
constexpr double kExpected = 0.15;
// Shorter ones are bookkeeping of eager mode (views, metadata), not work.
constexpr double kWork = 100e3;  // ns

struct CpuWork {
  std::size_t position = 0;
  double total = 0;  // ns
  double share = 0;  // of the window
  std::string top;
};

// Self time of operators that launch nothing and take long. Those inside a loader that runs in the
// training thread are the loader's.
CpuWork cpu_work(const Context& context, std::size_t position) {
  const model::RankTimeline& timeline = context.timeline().ranks[position];
  const model::RankAnalysis& rank = context.job().ranks[position];
  CpuWork work;
  work.position = position;
  // Without a device nothing is held up: operators on CPU tensors are the training.
  if (rank.waterfall.devices.empty() || rank.pauses.input.operators > 0) return work;
  double longest = 0;
  for (const model::OpRow& op : rank.host.ops) {
    if (op.is_annotation || op.kernels > 0 || op.count == 0) continue;
    const auto self = static_cast<double>(op.host_self);
    if (self / static_cast<double>(op.count) < kWork) continue;
    work.total += self;
    if (self > longest) {
      longest = self;
      work.top = std::string(timeline.name(op.name));
    }
  }
  const auto window = static_cast<double>(rank.steps.window.length());
  work.share = window > 0 ? work.total / window : 0;
  return work;
}

analysis::Edit cpu_ops(double kept) {
  analysis::Edit edit;
  edit.cpu_ops = kept;
  return edit;
}

}  // namespace

void judge_launch_cpu_work(const Context& context, Judgement& judgement) {
  std::optional<CpuWork> most;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const CpuWork work = cpu_work(context, i);
    if (work.total > 0 && (!most || work.share > most->share)) most = work;
  }
  if (!most || most->share < context.threshold(kId, "share")) return;
  const double gained = gain(context, cpu_ops(kExpected));
  if (gained < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = gained >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = most->share;
  finding.ranks = {context.timeline().ranks[most->position].info.rank};
  finding.summary = fmt::format(
      "Operators on CPU tensors take {} of the training thread's time; most of it in {}.",
      percent(most->share), most->top);
  finding.where.push_back(most->top);
  add_measure(context, verdict, "time in CPU operators", most->share, "fraction", "share");
  add_measure(context, verdict, "predicted gain", gained, "fraction", "share");
  set_edits(verdict, cpu_ops(0), cpu_ops(kExpected), cpu_ops(0.5),
            "operators that launch nothing leave the training thread: 0 to 50% of their time stays "
            "(15% expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
