#include "verify/run_summary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cost/used_gpus.h"

namespace pyrometer::verify {
namespace {

// Of a recording: the whole run, one row for all devices of a step.
Series recorded_series(const model::RecordedRun& run) {
  Series out;
  std::int64_t devices = 0;
  const auto close = [&] {
    if (out.empty() || devices < 2) return;
    for (model::DurationNs& cause : out.back().causes) cause /= devices;
  };
  for (const model::RecordedStep& step : run.steps) {
    if (step.count <= 0 || step.span.length() <= 0) continue;
    const bool same_step =
        !out.empty() && out.back().start == step.span.start && out.back().count == step.count;
    if (!same_step) {
      // Another device's row of steps that are counted already.
      if (!out.empty() && step.span.start < out.back().start + out.back().length) continue;
      close();
      devices = 1;
      out.push_back({.start = step.span.start,
                     .length = step.span.length(),
                     .count = step.count,
                     .samples = step.samples,
                     .input_wait = step.input_wait,
                     .causes = step.causes,
                     .watched = step.captured && step.device >= 0});
      continue;
    }
    ++devices;
    for (std::size_t i = 0; i < step.causes.size(); ++i) out.back().causes[i] += step.causes[i];
  }
  close();
  return out;
}

Series traced_series(const model::RankAnalysis& rank) {
  Series out;
  const auto devices = static_cast<std::int64_t>(rank.waterfall.devices.size());
  for (std::size_t i = 0; i < rank.steps.steps.size(); ++i) {
    const model::Interval& span = rank.steps.steps[i].span;
    if (span.length() <= 0) continue;
    StepRow row{.start = span.start, .length = span.length(), .watched = devices > 0};
    for (const model::DeviceWaterfall& device : rank.waterfall.devices) {
      if (i >= device.steps.size()) row.watched = false;
      for (std::size_t c = 0; row.watched && c < row.causes.size(); ++c) {
        row.causes[c] += device.steps[i][c] / devices;
      }
    }
    out.push_back(row);
  }
  return out;
}

// Of a rank whose host ran ahead, the spans of a trace hold more than the steps they are of.
void set_worth(Series& series, const model::Steps& steps) {
  if (steps.backlog <= 0 || series.empty()) return;
  const double excess = steps.worth() / static_cast<double>(steps.steps.size());
  for (StepRow& row : series) {
    row.length = static_cast<model::DurationNs>(static_cast<double>(row.length) / excess);
    for (model::DurationNs& cause : row.causes) {
      cause = static_cast<model::DurationNs>(static_cast<double>(cause) / excess);
    }
  }
}

void add_series(const model::RankTimeline& timeline, const model::RankAnalysis& rank,
                RunSummary& out) {
  Series series;
  if (timeline.run != nullptr) {
    series = recorded_series(*timeline.run);
  } else {
    series = traced_series(rank);
    set_worth(series, rank.steps);
  }
  if (series.empty()) return;
  const WarmUp warm_up = find_warm_up(series);
  std::int64_t left_out = 0;
  for (std::size_t i = 0; i < warm_up.rows; ++i) left_out += series[i].count;
  series.erase(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(warm_up.rows));
  std::int64_t steps = 0;
  for (const StepRow& row : series) {
    steps += row.count;
    out.causes_known = out.causes_known || row.watched;
  }
  out.warm_up_over = out.warm_up_over && warm_up.over;
  out.warm_up_steps = std::max(out.warm_up_steps, left_out);
  out.steps = out.series.empty() ? steps : std::min(out.steps, steps);
  out.series.push_back(std::move(series));
}

void add_samples(RunSummary& out) {
  double per_s = 0;
  double per_step = 0;
  for (const Series& series : out.series) {
    double samples = 0;
    double time = 0;
    double steps = 0;
    for (const StepRow& row : series) {
      if (row.samples <= 0) return;
      samples += static_cast<double>(row.samples);
      time += static_cast<double>(row.length);
      steps += static_cast<double>(row.count);
    }
    if (time <= 0) return;
    constexpr double kSecond = 1e9;
    per_s += samples * kSecond / time;
    per_step += samples / steps;
  }
  if (out.series.empty()) return;
  out.samples_per_s = per_s;
  out.samples_per_step = per_step;
}

void add_kernels(const model::RankTimeline& timeline, const model::RankAnalysis& rank, double scale,
                 RunSummary& out) {
  for (const model::KernelRow& row : rank.kernels.by_name) {
    KernelUse& use = out.kernels[std::string(timeline.name(row.name))];
    use.calls += static_cast<double>(row.stats.count) * scale;
    use.ns += static_cast<double>(row.stats.total) * scale;
  }
}

void add_memory(const model::JobAnalysis& job, RunSummary& out) {
  out.why_no_memory = "the run has no ranks";
  for (const model::RankAnalysis& rank : job.ranks) {
    const auto peak = rank.facts.value(model::FactId::kMemoryPeakAllocated);
    if (peak && (!out.peak_memory || *peak > *out.peak_memory)) out.peak_memory = *peak;
    if (!peak) out.why_no_memory = rank.facts.missing_reason(model::FactId::kMemoryPeakAllocated);
  }
  if (out.peak_memory) out.why_no_memory.clear();
}

// Of a rank whose steps stand last in `out.series`. `gpus`: those of ranks before it.
void add_energy(const model::RankTimeline& timeline, const model::RankAnalysis& rank,
                std::set<std::pair<std::string, std::string>>& gpus, EnergyRows& out,
                const Series& steps) {
  if (!out.missing.empty()) return;
  if (timeline.run == nullptr) {
    out.missing = "only recordings have energy";
    return;
  }
  const std::set<std::int32_t> used = cost::used_gpus(timeline, rank);
  for (const model::EnergySeries& series : timeline.run->energy) {
    if (series.meter != "counter" || series.object.empty() || !used.contains(series.device))
      continue;
    if (!gpus.emplace(timeline.info.file, series.object).second) {
      out.missing = "ranks share a GPU, whose energy cannot be told apart";
      return;
    }
  }
  EnergyRows own = energy_rows(*timeline.run, used, steps);
  out.missing = std::move(own.missing);
  for (std::vector<Quotient>& rows : own.rows) out.rows.push_back(std::move(rows));
}

// What changes from run to run without anybody having changed it, or says nothing of the program.
bool is_setting(std::string_view key) {
  for (const std::string_view prefix : {"hook.", "machine.", "gpu.capture", "distributed.rank",
                                        "cuda.device", "pyrometer.", "flops."}) {
    if (key.starts_with(prefix)) return key == "cuda.device_name" || key == "cuda.device_count";
  }
  return true;
}

}  // namespace

RunSummary summarise(const model::Timeline& timeline, const model::JobAnalysis& job,
                     const model::Diagnosis& diagnosis, std::string label) {
  RunSummary out;
  out.label = std::move(label);
  out.ranks = static_cast<std::int64_t>(timeline.ranks.size());
  out.facts.push_back(job.facts);
  std::set<std::pair<std::string, std::string>> gpus;  // file and object
  std::int64_t devices = 0;
  for (const model::RankAnalysis& rank : job.ranks) {
    devices += static_cast<std::int64_t>(rank.waterfall.devices.size());
    out.facts.push_back(rank.facts);
  }
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const model::RankTimeline& rank = timeline.ranks[r];
    out.world_size = std::max(out.world_size, rank.info.world_size);
    for (const model::DeviceWaterfall& device : job.ranks[r].waterfall.devices) {
      out.gpus.push_back(rank.devices[device.device].name);
    }
    if (rank.run != nullptr) {
      out.recording = true;
      out.ended = out.ended && rank.run->ended;
      if (rank.run->ended && out.failed == 0) {
        out.failed = rank.run->exit_signal != 0 ? 128 + rank.run->exit_signal
                                                : std::max(rank.run->exit_code, 0);
      }
      for (const auto& [key, value] : rank.run->info) {
        if (r == 0 && is_setting(key)) out.settings[key] = value;
      }
    }
    const std::size_t before = out.series.size();
    add_series(rank, job.ranks[r], out);
    if (out.series.size() > before) {
      add_energy(rank, job.ranks[r], gpus, out.energy, out.series.back());
    }
    const double steps = job.ranks[r].steps.worth();
    if (steps > 0 && devices > 0) {
      // Mean over the GPUs of the job.
      const auto own = static_cast<double>(job.ranks[r].waterfall.devices.size());
      add_kernels(rank, job.ranks[r], own > 0 ? 1 / (steps * static_cast<double>(devices)) : 0,
                  out);
    }
  }
  std::sort(out.gpus.begin(), out.gpus.end());
  if (out.series.empty()) out.why_no_steps = "no steps were found";
  if (out.kernels.empty()) {
    out.why_no_kernels = devices == 0 ? "no GPU was used" : "no kernels were recorded within steps";
  }
  if (out.energy.missing.empty() && out.energy.rows.empty()) {
    out.energy.missing = out.why_no_steps.empty() ? "no GPU was used" : out.why_no_steps;
  }
  if (!out.energy.missing.empty()) out.energy.rows.clear();
  add_samples(out);
  add_memory(job, out);
  for (const model::Finding& finding : diagnosis.findings) {
    if (finding.severity == model::Severity::kInfo) continue;
    out.findings[finding.id] = {finding.title, finding.severity, finding.share_of_time};
  }
  out.diagnosis = diagnosis;
  return out;
}

std::optional<double> step_ns(const RunSummary& run) {
  double time = 0;
  double steps = 0;
  for (const Series& series : run.series) {
    for (const StepRow& row : series) {
      time += static_cast<double>(row.length);
      steps += static_cast<double>(row.count);
    }
  }
  if (steps <= 0) return std::nullopt;
  return time / steps;
}

}  // namespace pyrometer::verify
