#include "server/recording_status.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <set>
#include <utility>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "cost/efficiency.h"
#include "cost/energy.h"
#include "cost/run_cost.h"
#include "model/run_totals.h"
#include "output/json_report.h"
#include "output/words.h"
#include "recording/reader.h"
#include "sources/source.h"

namespace pyrometer::server {
namespace {

constexpr double kSecond = 1e9;

using Shares = std::array<double, model::kCauseCount>;

std::optional<Shares> shares_of(const model::CauseTimes& causes) {
  const auto total = static_cast<double>(model::total(causes));
  if (total <= 0) return std::nullopt;
  Shares shares{};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = static_cast<double>(causes[i]) / total;
  }
  return shares;
}

// The run as if it had begun with its last minutes.
model::RunTotals recent_totals(const model::RecordedRun& run) {
  model::RecordedRun recent;
  model::TimeNs last = 0;
  for (const model::RecordedStep& step : run.steps) last = std::max(last, step.span.end);
  std::ranges::copy_if(
      run.steps, std::back_inserter(recent.steps),
      [last](const model::RecordedStep& step) { return step.span.end > last - kRecentNs; });
  if (!recent.steps.empty()) recent.span = {recent.steps.front().span.start, last};
  return model::totals_of(recent);
}

// The kept windows may have none yet while the steps tell of some.
std::int64_t gpus_of(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  std::set<std::int32_t> seen;
  for (const model::RecordedStep& step : timeline.run->steps) {
    if (step.device >= 0) seen.insert(step.device);
  }
  return static_cast<std::int64_t>(std::max(seen.size(), analysis.waterfall.devices.size()));
}

RankStatus rank_status(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  RankStatus status{.rank = timeline.info.rank};
  if (timeline.run == nullptr) return status;
  status.gpus = gpus_of(timeline, analysis);
  const model::RunTotals recent = recent_totals(*timeline.run);
  status.steps = timeline.run->steps_total;
  if (recent.steps > 0) {
    status.step_seconds =
        static_cast<double>(recent.step_time) / static_cast<double>(recent.steps) / kSecond;
  }
  status.samples_per_s = recent.samples_per_s;
  status.causes = shares_of(recent.causes);
  // Where no step was watched from start to end, the kept windows still say something.
  if (!status.causes) status.causes = shares_of(analysis.waterfall.causes);
  return status;
}

FindingStatus finding_status(const model::Finding& finding) {
  return {.id = finding.id,
          .severity = std::string(output::word_for(finding.severity).id),
          .confidence = std::string(output::word_for(finding.confidence).id),
          .title = finding.title,
          .summary = finding.summary,
          .fix = finding.fix,
          .ranks = finding.ranks,
          .share_of_time = finding.share_of_time};
}

void set_economy(RecordingStatus& status, const std::optional<cost::Price>& price,
                 const model::Timeline& timeline, const model::JobAnalysis& job,
                 const model::Diagnosis& diagnosis, const cost::Assumptions& assumptions) {
  const cost::RunUsage usage = cost::run_usage(timeline, job);
  status.run_usd.reset();
  if (price && usage.gpus > 0) {
    status.run_usd = cost::usd(static_cast<double>(usage.gpu_time), *price);
  }
  status.gpu_joules = cost::energy_of(timeline, job, assumptions).gpu_j;
  status.mfu = cost::efficiency_of(timeline, job, diagnosis, assumptions).mfu;
  const cost::Goodput goodput = cost::goodput_of(timeline);
  status.goodput.reset();
  if (goodput.missing.empty()) status.goodput = goodput.share(goodput.useful);
}

void analyse_or_throw(RecordingStatus& status, const cost::Settings& cost,
                      const rules::Settings& rules) {
  const base::Result<model::Timeline> timeline = recording::read_recording(status.path);
  if (!timeline) {
    status.problem = timeline.error().to_string();
    return;
  }
  std::unique_ptr<analysis::WhatIf> what_if;
  const model::JobAnalysis job =
      analysis::run_passes(*timeline, {.threads = 1, .what_if = &what_if});
  const model::Diagnosis diagnosis = rules::diagnose(*timeline, job, *what_if, rules);
  status.problem.clear();
  status.verdict = diagnosis.verdict;
  status.ranks.clear();
  status.findings.clear();
  for (std::size_t i = 0; i < timeline->ranks.size(); ++i) {
    status.ranks.push_back(rank_status(timeline->ranks[i], job.ranks[i]));
  }
  for (const model::Finding& finding : diagnosis.findings) {
    status.findings.push_back(finding_status(finding));
  }
  const auto [price, no_price] = cost::price_of(cost, *timeline, job);
  status.usd_per_gpu_hour.reset();
  if (price) status.usd_per_gpu_hour = price->usd_per_gpu_hour;
  set_economy(status, price, *timeline, job, diagnosis, cost.assumptions);
  auto report = std::make_shared<std::string>();
  output::write_json_report({*timeline, job, diagnosis, price, no_price, cost.assumptions}, {},
                            [&](std::string_view piece) {
                              report->append(piece);
                              return true;
                            });
  status.report = std::move(report);
}

}  // namespace

void analyse(RecordingStatus& status, const cost::Settings& cost, const rules::Settings& rules) {
  const std::int64_t begin = sources::monotonic_ns();
  try {
    analyse_or_throw(status, cost, rules);
  } catch (const std::exception& error) {
    status.problem = std::string("cannot be analysed: ") + error.what();
  }
  status.analysis_seconds = static_cast<double>(sources::monotonic_ns() - begin) / kSecond;
  status.analysed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
}

}  // namespace pyrometer::server
