#include "analysis/what_if.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/dilation.h"
#include "analysis/replay.h"
#include "base/parallel.h"

namespace pyrometer::analysis {
namespace {

using model::Index;

// Items replayed per what-if, per rank and all ranks together: bounds the time of a report with
// many findings.
constexpr std::uint32_t kMaxItemsPerRank = 24'000;
constexpr std::uint32_t kMaxItems = 60'000;

// Runs of one program differ by at least this much, so no prediction is narrower.
constexpr double kMinUncertainty = 0.04;
// On CPUs alone they differ more: what is removed also leaves caches and cores to the rest. In
// trainings on two shared cores by a quarter.
constexpr double kHostUncertainty = 0.25;
// The profiler slows parts of one program differently. Judged by the measured gains of fixes in
// host-bound programs, by about this much of the width of its whole cost's estimate.
constexpr double kUnevenDilation = 0.25;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double difference(const model::ReplayBaseline& b) {
  return b.measured_ns > 0 ? std::abs(b.replayed_ns - b.measured_ns) / b.measured_ns : 0;
}

}  // namespace

struct WhatIf::Impl {
  Impl(const model::Timeline& timeline, const model::JobAnalysis& analysis, unsigned threads);

  [[nodiscard]] double step(const Edit& edit, ProfilerLevel level) const;
  [[nodiscard]] double replayed(const Edit& edit, const ReplaySettings& settings) const;
  [[nodiscard]] double balanced(const Edit& edit, ProfilerLevel level) const;
  [[nodiscard]] std::vector<double> rank_steps(const Edit& edit,
                                               const ReplaySettings& settings) const;
  [[nodiscard]] ProfilerLevel level_of(double per_op_ns) const;
  void build_graphs(const model::Timeline& timeline, const model::JobAnalysis& analysis,
                    unsigned threads);
  void set_baselines(unsigned threads);

  std::vector<StepGraph> graphs;  // by rank of `ranks`
  std::vector<ReplayRank> ranks;
  std::vector<double> scale;  // by rank: mean of all steps / mean of the replayed ones
  Meetings meetings;
  model::Dilation dilation;
  model::ReplayBaseline baseline;
  std::vector<model::ReplayBaseline> by_position;  // of Timeline::ranks
  std::array<double, 3> corrected{};  // by level: low, middle, high estimate of the profiler's cost
};

WhatIf::Impl::Impl(const model::Timeline& timeline, const model::JobAnalysis& analysis,
                   unsigned threads) {
  build_graphs(timeline, analysis, threads);
  if (ranks.empty()) return;
  meetings = find_meetings(ranks, analysis.cross);
  dilation = ranks.front().analysis->dilation;
  set_baselines(threads);
}

void WhatIf::Impl::build_graphs(const model::Timeline& timeline, const model::JobAnalysis& analysis,
                                unsigned threads) {
  // All ranks replay the same steps, by position: ranks of one job record the same ones.
  std::vector<std::uint32_t> items;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const auto counts = count_items(timeline.ranks[r], analysis.ranks[r]);
    if (counts.empty()) continue;
    if (items.empty()) items.assign(counts.size(), 0);
    items.resize(std::min(items.size(), counts.size()));
    for (std::size_t i = 0; i < items.size(); ++i) items[i] += counts[i];
  }
  const auto rank_count = static_cast<std::uint32_t>(timeline.ranks.size());
  const std::uint32_t max_items = std::min(kMaxItems, kMaxItemsPerRank * rank_count);
  const std::vector<StepRange> ranges = choose_steps(items, max_items);
  baseline.unavailable = "no ranks";
  by_position.resize(timeline.ranks.size());
  graphs.reserve(timeline.ranks.size());
  std::vector<StepGraph> built(timeline.ranks.size());
  base::for_each_index(built.size(), threads, [&](std::size_t r) {
    built[r] = build_step_graph(timeline.ranks[r], analysis.ranks[r], ranges);
  });
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    StepGraph& graph = built[r];
    if (!graph.available) {
      baseline.unavailable = graph.unavailable;
      by_position[r].unavailable = graph.unavailable;
      continue;
    }
    graphs.push_back(std::move(graph));
    ranks.push_back(
        {&timeline.ranks[r], &analysis.ranks[r], &graphs.back(), static_cast<Index>(r)});
    const bool all = graphs.back().step_count() == analysis.ranks[r].steps.steps.size();
    const double sampled = graphs.back().measured_step_ns();
    const auto whole = static_cast<double>(analysis.ranks[r].steps.stats.mean);
    scale.push_back(all || sampled <= 0 ? 1 : whole / sampled);
  }
}

// Mean step of each rank.
std::vector<double> WhatIf::Impl::rank_steps(const Edit& edit,
                                             const ReplaySettings& settings) const {
  const StepLengths lengths = replay(ranks, meetings, edit, settings);
  std::vector<double> steps;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    steps.push_back(scale[r] * mean(lengths[r]) / edit.batch);
  }
  return steps;
}

// The slowest rank's mean step.
double WhatIf::Impl::replayed(const Edit& edit, const ReplaySettings& settings) const {
  const std::vector<double> steps = rank_steps(edit, settings);
  return *std::max_element(steps.begin(), steps.end());
}

void WhatIf::Impl::set_baselines(unsigned threads) {
  // The last is the test of the model: what the edges explain without each call's own delays.
  const std::array<ReplaySettings, 4> settings{{{kCorrectedLow, CommMode::kTogether, false},
                                                {kCorrected, CommMode::kTogether, false},
                                                {kCorrectedHigh, CommMode::kTogether, false},
                                                {kAsRecorded, CommMode::kTogether, true}}};
  std::array<std::vector<double>, 4> without;
  base::for_each_index(settings.size(), threads,
                       [&](std::size_t i) { without[i] = rank_steps({}, settings[i]); });
  const std::vector<double>& as_recorded = without[3];
  baseline.available = true;
  baseline.unavailable.clear();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    model::ReplayBaseline& b = by_position[ranks[r].position];
    b.available = true;
    b.unavailable.clear();
    b.steps = graphs[r].step_count();
    b.measured_ns = scale[r] * graphs[r].measured_step_ns();
    b.replayed_ns = as_recorded[r];
    b.error = difference(b);
    b.corrected_ns = without[1][r];
    b.corrected_low_ns = std::min({without[0][r], without[1][r], without[2][r]});
    b.corrected_high_ns = std::max({without[0][r], without[1][r], without[2][r]});
    // The job's step is that of its slowest rank.
    baseline.steps = b.steps;
    baseline.measured_ns = std::max(baseline.measured_ns, b.measured_ns);
    baseline.replayed_ns = std::max(baseline.replayed_ns, b.replayed_ns);
    for (std::size_t k = 0; k < 3; ++k) corrected[k] = std::max(corrected[k], without[k][r]);
  }
  baseline.error = difference(baseline);
  baseline.corrected_ns = corrected[1];
  baseline.corrected_low_ns = *std::min_element(corrected.begin(), corrected.end());
  baseline.corrected_high_ns = *std::max_element(corrected.begin(), corrected.end());
  if (baseline.measured_ns > 0 && baseline.corrected_low_ns > 0) return;
  baseline.available = false;
  baseline.unavailable = "the steps have no length";
}

// Every rank takes the time that all have in common: the mean of what each needs for itself, or the
// fastest rank's.
double WhatIf::Impl::balanced(const Edit& edit, ProfilerLevel level) const {
  const std::vector<double> alone = rank_steps(edit, {level, CommMode::kAlone, false});
  const double average = mean(alone);
  const double fastest = *std::min_element(alone.begin(), alone.end());
  return average + edit.skew_to_fastest * (fastest - average);
}

double WhatIf::Impl::step(const Edit& edit, ProfilerLevel level) const {
  if (edit.loader_workers > 0) {
    Edit rest = edit;
    rest.loader_workers = 0;
    rest.input_wait = 0;
    double loader = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      loader = std::max(loader, scale[r] * loader_time(ranks[r], edit, level));
    }
    return std::max(step(rest, level), loader / edit.loader_workers / edit.batch);
  }
  if (edit.no_skew && !meetings.ranks.empty()) return balanced(edit, level);
  return replayed(edit, {level, CommMode::kTogether, false});
}

// Between the estimates, weights are linear; below the lowest they fall to none.
ProfilerLevel WhatIf::Impl::level_of(double per_op_ns) const {
  if (per_op_ns < 0) return kCorrected;
  const std::array<double, 4> at{0, dilation.per_op_low_ns, dilation.per_op_ns,
                                 dilation.per_op_high_ns};
  ProfilerLevel level;
  if (per_op_ns == 0) return kAsRecorded;
  if (per_op_ns >= at[3]) return kCorrectedHigh;
  for (std::size_t k = 0; k < 3; ++k) {
    if (per_op_ns > at[k + 1] || at[k + 1] <= at[k]) continue;
    const double part = (per_op_ns - at[k]) / (at[k + 1] - at[k]);
    level.weight[k] = static_cast<float>(part);
    if (k > 0) level.weight[k - 1] = static_cast<float>(1 - part);
    return level;
  }
  return level;
}

WhatIf::WhatIf(const model::Timeline& timeline, const model::JobAnalysis& analysis,
               unsigned threads)
    : impl_(std::make_unique<Impl>(timeline, analysis, base::thread_count(threads))) {}

WhatIf::~WhatIf() = default;

bool WhatIf::available() const { return impl_->baseline.available; }

const model::ReplayBaseline& WhatIf::baseline() const { return impl_->baseline; }

const model::ReplayBaseline& WhatIf::rank_baseline(std::size_t position) const {
  return impl_->by_position[position];
}

double WhatIf::step_ns(const Edit& edit, double per_op_ns) const {
  return available() ? impl_->step(edit, impl_->level_of(per_op_ns)) : 0;
}

model::Prediction WhatIf::predict(const Edit& best, const Edit& expected, const Edit& worst,
                                  std::string model_in_words) const {
  model::Prediction p;
  p.model = std::move(model_in_words);
  p.baseline_ns = impl_->baseline.corrected_ns;
  p.baseline_error = impl_->baseline.error;
  if (!available()) return p;
  // A factor on the step is more certain than its length: judge each level of the profiler's cost
  // against its own baseline.
  double low = impl_->step(expected, kCorrected) / impl_->corrected[1];
  double high = low;
  const double middle = low;
  const std::array<ProfilerLevel, 2> levels{kCorrectedLow, kCorrectedHigh};
  const std::array<double, 2> baselines{impl_->corrected[0], impl_->corrected[2]};
  for (std::size_t k = 0; k < levels.size(); ++k) {
    for (const Edit* edit : {&best, &worst}) {
      const double factor = impl_->step(*edit, levels[k]) / baselines[k];
      low = std::min(low, factor);
      high = std::max(high, factor);
    }
  }
  const model::ReplayBaseline& b = impl_->baseline;
  const double width = (b.corrected_high_ns - b.corrected_low_ns) / b.corrected_ns;
  const bool host_alone =
      std::all_of(impl_->graphs.begin(), impl_->graphs.end(),
                  [](const StepGraph& graph) { return graph.activities.empty(); });
  const double least = host_alone ? kHostUncertainty : kMinUncertainty;
  const double uncertainty = std::max(least, p.baseline_error) + kUnevenDilation * width;
  p.mid_ns = middle * p.baseline_ns;
  p.low_ns = low / (1 + uncertainty) * p.baseline_ns;
  p.high_ns = high * (1 + uncertainty) * p.baseline_ns;
  return p;
}

}  // namespace pyrometer::analysis
