#include "cost/efficiency.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>
#include <vector>

#include "cost/used_gpus.h"
#include "model/run_totals.h"

namespace pyrometer::cost {
namespace {

constexpr double kTera = 1e12;

// A number that the hook told of the process; nothing where it told none.
std::optional<double> told(const model::RecordedRun& run, const char* key) {
  const auto found = run.info.find(key);
  if (found == run.info.end()) return std::nullopt;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

// Work that a CUDA graph holds passes the counter by.
bool launches_graphs(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  const std::vector<model::NameId>& names = timeline.api_calls.name;
  return std::any_of(names.begin(), names.end(), [&](model::NameId name) {
    return name < analysis.api_class.size() &&
           analysis.api_class[name] == model::ApiClass::kGraphLaunch;
  });
}

struct Flops {
  std::optional<double> per_sample;
  std::string source, missing;
};

// Counted on one step of the run, else as the user says.
Flops flops_of(const model::RankTimeline& timeline, const model::RankAnalysis& analysis,
               const Assumptions& assumptions) {
  std::string why;
  if (timeline.run != nullptr) {
    const std::optional<double> step = told(*timeline.run, "flops.step");
    const std::optional<double> samples = told(*timeline.run, "flops.samples");
    const auto missing = timeline.run->info.find("flops.missing");
    if (missing != timeline.run->info.end()) why = "not counted: " + missing->second;
    if (step && samples && !launches_graphs(timeline, analysis)) {
      return {*step / *samples, "counted on one step of the run", {}};
    }
    if (step && samples) why = "not counted: CUDA graphs hide operators from the counter";
  }
  if (assumptions.flops_per_sample) {
    return {assumptions.flops_per_sample, assumptions.flops_source, {}};
  }
  if (why.empty()) why = "neither counted (pyrometer run --count-flops) nor given";
  return {std::nullopt, {}, why + " (--flops-per-sample)"};
}

struct Sums {
  double samples_per_s = 0;
  double flops_per_s = 0;
  double peak_flops_per_s = 0;  // all GPUs
};

void set_utilization(const model::JobAnalysis& job, const model::Diagnosis& diagnosis,
                     JobEfficiency& out) {
  const auto whole = static_cast<double>(model::total(job.causes));
  if (whole <= 0) return;
  out.utilization = static_cast<double>(model::busy_time(job.causes)) / whole;
  out.attainable = out.utilization;
  if (!diagnosis.joint || !(diagnosis.joint->mid_ns > 0)) return;
  const double faster = diagnosis.joint->baseline_ns / diagnosis.joint->mid_ns;
  out.attainable = std::clamp(*out.utilization * std::max(1.0, faster), 0.0, 1.0);
}

}  // namespace

JobEfficiency efficiency_of(const model::Timeline& timeline, const model::JobAnalysis& job,
                            const model::Diagnosis& diagnosis, const Assumptions& assumptions) {
  JobEfficiency out;
  Sums sums;
  std::string no_samples;
  const GpuShares shares(timeline, job);
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const model::RankTimeline& rank = timeline.ranks[r];
    const double gpus = shares.of(r);
    if (gpus == 0) continue;
    std::optional<double> samples_per_s;
    if (rank.run != nullptr) samples_per_s = model::totals_of(*rank.run).samples_per_s;
    if (!samples_per_s) {
      no_samples = rank.run == nullptr ? "a trace does not tell samples"
                                       : "how many samples a step has is not known";
    }
    sums.samples_per_s += samples_per_s.value_or(0);
    Flops flops = flops_of(rank, job.ranks[r], assumptions);
    sums.flops_per_s += flops.per_sample.value_or(0) * samples_per_s.value_or(0);
    if (!flops.missing.empty()) out.flops_missing = std::move(flops.missing);
    out.flops_per_sample = flops.per_sample;
    out.flops_source = std::move(flops.source);
    PeakResult result = peak_of(rank, job.ranks[r]);
    if (!result.peak) {
      out.peak_missing = std::move(result.missing);
      continue;
    }
    sums.peak_flops_per_s += result.peak->tflops * kTera * gpus;
    if (!out.peak) {
      out.peak = std::move(result.peak);
      continue;
    }
    if (out.peak->gpu != result.peak->gpu) out.peak->gpu = "GPUs of several kinds";
    if (out.peak->dtype != result.peak->dtype) out.peak->dtype = "of each rank's types";
    out.peak->verified = out.peak->verified && result.peak->verified;
  }
  out.gpus = shares.count();
  set_utilization(job, diagnosis, out);
  if (out.gpus == 0) {
    out.peak_missing = out.mfu_missing = "no GPU was used";
    return out;
  }
  const auto gpus = static_cast<double>(out.gpus);
  if (!out.flops_missing.empty()) out.flops_per_sample.reset();
  if (!out.peak_missing.empty()) out.peak.reset();
  if (no_samples.empty()) out.samples_per_s = sums.samples_per_s;
  if (out.samples_per_s && assumptions.tokens_per_sample) {
    out.tokens_per_s = *out.samples_per_s * *assumptions.tokens_per_sample;
  }
  if (out.peak) out.peak->tflops = sums.peak_flops_per_s / kTera / gpus;
  if (out.flops_per_sample && out.samples_per_s) {
    // Ranks can differ: the mean over all samples.
    if (sums.samples_per_s > 0) out.flops_per_sample = sums.flops_per_s / sums.samples_per_s;
    out.tflops_per_gpu = sums.flops_per_s / kTera / gpus;
  }
  if (!out.tflops_per_gpu || !out.peak) {
    out.mfu_missing = !out.flops_per_sample ? "FLOPs per sample: " + out.flops_missing
                      : !out.samples_per_s  ? no_samples
                                            : out.peak_missing;
    return out;
  }
  out.mfu = *out.tflops_per_gpu / out.peak->tflops;
  out.peak_samples_per_s = sums.peak_flops_per_s / *out.flops_per_sample;
  if (out.utilization && *out.attainable > 0) {
    out.eta = *out.samples_per_s * *out.utilization / (*out.peak_samples_per_s * *out.attainable);
  }
  out.impossible = *out.mfu > 1 || out.eta.value_or(0) > 1;
  return out;
}

}  // namespace pyrometer::cost
