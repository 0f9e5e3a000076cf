#include "rules/layout_cudnn_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "layout.cudnn_benchmark";

struct Search {
  std::size_t position = 0;
  double per_step = 0;  // waits inside convolutions
  double share = 0;     // of the window, host time in these waits and the drain after them
  std::vector<std::string> operators;
};

bool is_convolution(std::string_view name) { return name.find("convolution") != name.npos; }

Search search_of(const Context& context, std::size_t position) {
  const model::RankTimeline& timeline = context.timeline().ranks[position];
  const model::RankAnalysis& rank = context.job().ranks[position];
  Search search;
  search.position = position;
  double time = 0;
  for (const model::SyncRow& row : rank.host.syncs) {
    const std::string_view leaf = timeline.name(row.leaf_op);
    const bool waits =
        row.klass == model::ApiClass::kEventSync || row.klass == model::ApiClass::kDeviceSync;
    if (!waits || !is_convolution(leaf)) continue;
    search.per_step += row.per_step;
    time += static_cast<double>(row.blocked + row.drained_after);
    if (std::find(search.operators.begin(), search.operators.end(), leaf) ==
        search.operators.end()) {
      search.operators.emplace_back(leaf);
    }
  }
  const auto window = static_cast<double>(rank.steps.window.length());
  search.share = window > 0 ? time / window : 0;
  return search;
}

analysis::Edit without_search(const std::vector<std::string>& operators, double host,
                              double trials) {
  analysis::Edit edit;
  edit.remove_syncs = true;
  edit.sync_names = operators;
  edit.sync_feeding_ops = trials;
  edit.alloc_calls = 0;
  edit.host_ops = host;
  return edit;
}

}  // namespace

void judge_layout_cudnn_benchmark(const Context& context, Judgement& judgement) {
  std::optional<Search> most;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    Search search = search_of(context, i);
    if (!most || search.per_step > most->per_step) most = std::move(search);
  }
  if (!most || most->per_step < context.threshold(kId, "count")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = {context.timeline().ranks[most->position].info.rank};
  finding.share_of_time = most->share;
  finding.summary = fmt::format(
      "The host waits {:.0f} times per step inside convolutions: cuDNN tries out algorithms, which "
      "it does once for each new shape when cudnn.benchmark is on.",
      most->per_step);
  for (const std::string& name : most->operators) finding.where.push_back(name);
  add_measure(context, verdict, "waits inside convolutions per step", most->per_step, "count",
              "count");
  set_edits(verdict, without_search(most->operators, 0.05, 0),
            without_search(most->operators, 0.2, 0.05), without_search(most->operators, 0.8, 0.2),
            "the trial kernels and waits go, and 20 to 95% of the host time in operators");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
