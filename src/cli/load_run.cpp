#include "cli/load_run.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "cli/message.h"
#include "cli/progress_line.h"
#include "cost/efficiency.h"
#include "cost/energy.h"
#include "importers/importer.h"

namespace pyrometer::cli {

base::Result<verify::RunSummary> load_run(const std::string& path, const LoadOptions& options) {
  importers::Progress progress;
  std::vector<std::string> skipped;
  auto line = std::make_unique<ProgressLine>(progress, options.progress);
  const base::Result<model::Timeline> timeline = importers::import_paths(
      {path}, {.threads = options.threads, .progress = &progress, .skipped = &skipped});
  if (!timeline) return base::fail(timeline.error());
  line->set_phase("analysing");
  std::unique_ptr<analysis::WhatIf> what_if;
  const model::JobAnalysis job =
      analysis::run_passes(*timeline, {.threads = options.threads, .what_if = &what_if});
  const model::Diagnosis diagnosis = rules::diagnose(*timeline, job, *what_if, options.rules);
  line.reset();
  for (const std::string& what : skipped) print_warning("left out: " + what);
  std::string label = std::filesystem::path(path).filename().string();
  if (label.empty()) label = std::filesystem::path(path).parent_path().filename().string();
  verify::RunSummary run =
      verify::summarise(*timeline, job, diagnosis, label.empty() ? path : label);
  const cost::JobPrice price = cost::price_of(options.cost, *timeline, job);
  if (price.price) run.usd_per_gpu_hour = price.price->usd_per_gpu_hour;
  run.why_no_price = price.missing;
  const cost::JobEfficiency efficiency =
      cost::efficiency_of(*timeline, job, diagnosis, options.cost.assumptions);
  run.mfu = efficiency.mfu;
  run.why_no_mfu = efficiency.mfu_missing;
  const cost::JobEnergy energy = cost::energy_of(*timeline, job, options.cost.assumptions);
  run.joules_per_step = energy.step_j;
  if (!energy.step_j) {
    run.why_no_energy = energy.gpu_missing.empty() ? "too few readings of energy within the steps"
                                                   : energy.gpu_missing;
  }
  return run;
}

base::Result<std::vector<verify::RunSummary>> load_runs(const std::vector<std::string>& paths,
                                                        const LoadOptions& options) {
  std::vector<verify::RunSummary> runs;
  for (const std::string& path : paths) {
    base::Result<verify::RunSummary> run = load_run(path, options);
    if (!run) return base::fail(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace pyrometer::cli
