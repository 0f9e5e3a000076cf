#include "output/economy_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cost/efficiency.h"
#include "cost/energy.h"
#include "cost/run_cost.h"
#include "output/section_tools.h"

namespace pyrometer::output {
namespace {

constexpr double kThousand = 1000;

std::string span_text(model::DurationNs time) { return format_duration(static_cast<double>(time)); }

std::string join_with(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string money_line(const Report& report) {
  const cost::RunUsage usage = cost::run_usage(report.timeline, report.job);
  if (!report.price || usage.gpus == 0) return "";
  const auto money = [&](double gpu_ns) { return format_usd(cost::usd(gpu_ns, *report.price)); };
  std::string text =
      fmt::format("Cost: {} for the run, {} × {}", money(static_cast<double>(usage.gpu_time)),
                  count_of(usage.gpus, "GPU"), span_text(usage.elapsed));
  std::vector<std::string> parts;
  if (usage.step_ns) parts.push_back(money(*usage.step_ns * kThousand) + " per 1,000 steps");
  if (usage.sample_ns) {
    parts.push_back(money(*usage.sample_ns * kThousand * kThousand) + " per million samples");
  }
  if (usage.epoch_ns) parts.push_back(money(*usage.epoch_ns) + " per epoch");
  return text + (parts.empty() ? "" : "; " + join_with(parts)) + ".";
}

std::string gpu_energy_line(const cost::JobEnergy& energy) {
  if (!energy.gpu_j) return "Energy of the GPUs: not measured; " + energy.gpu_missing + ".";
  double gpu_seconds = 0;
  double polled = 0;
  bool both = true;
  for (const cost::GpuEnergy& gpu : energy.gpus) {
    gpu_seconds += static_cast<double>(gpu.covered) / 1e9;
    both = both && gpu.counter_j && gpu.polled_j;
    polled += gpu.polled_j.value_or(0);
  }
  std::string text = fmt::format(
      "Energy of {}: {} by {}, {} W on average",
      count_of(static_cast<std::int64_t>(energy.gpus.size()), "GPU"), format_energy(*energy.gpu_j),
      energy.all_by_counter ? "the energy counter" : "power read once a second",
      format_number(gpu_seconds > 0 ? *energy.gpu_j / gpu_seconds : 0));
  std::vector<std::string> parts;
  if (energy.step_j) parts.push_back(format_energy(*energy.step_j) + " per step");
  if (energy.sample_j) parts.push_back(format_energy(*energy.sample_j) + " per sample");
  if (!parts.empty()) text += "; " + join_with(parts);
  if (both) text += fmt::format(" (polled power: {})", format_energy(polled));
  text += ".";
  if (energy.diverges) {
    text +=
        " Counter and polled power differ by more than 10%: power is read once a second and is a "
        "mean over a second on newer GPUs, so bursts and short runs are missed.";
  }
  return text;
}

std::string host_energy_line(const cost::JobEnergy& energy) {
  if (!energy.cpu_j) return "Energy of the CPUs: not measured; " + energy.host_missing + ".";
  return fmt::format("Energy of the machine's CPUs: {}{}, other jobs included.",
                     format_energy(*energy.cpu_j),
                     energy.memory_j ? ", of their memory " + format_energy(*energy.memory_j) : "");
}

std::string carbon_line(const cost::JobEnergy& energy, const cost::Assumptions& assumptions) {
  if (!energy.carbon_kg) return "";
  constexpr double kGramsPerKg = 1000;
  const std::string mass = *energy.carbon_kg < 1
                               ? format_number(*energy.carbon_kg * kGramsPerKg) + " g"
                               : format_number(*energy.carbon_kg) + " kg";
  const std::string pue =
      assumptions.pue ? fmt::format("PUE {:g} ({})", *assumptions.pue, assumptions.pue_source)
                      : "no PUE given, so without cooling";
  return fmt::format("Carbon: {} CO2e = {} {} × {:g} g/kWh ({}); {}.", mass,
                     format_energy(*energy.total_j), energy.cpu_j ? "of GPUs and CPUs" : "of GPUs",
                     *assumptions.grid_g_per_kwh, assumptions.grid_source, pue);
}

// "1.23 TFLOP", "4.5 GFLOP".
std::string format_flops(double flops) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}}};
  for (const auto& [unit, name] : kUnits) {
    if (flops >= unit) return format_number(flops / unit) + " " + std::string(name);
  }
  return format_number(flops) + " FLOP";
}

// Whether somebody wanted to know: --count-flops leaves its mark in the recording.
bool asked_for_flops(const Report& report) {
  if (report.assumptions.flops_per_sample) return true;
  const auto& ranks = report.timeline.ranks;
  return std::any_of(ranks.begin(), ranks.end(), [](const model::RankTimeline& rank) {
    return rank.run != nullptr &&
           (rank.run->info.contains("flops.step") || rank.run->info.contains("flops.missing"));
  });
}

void add_efficiency(const Report& report, const cost::JobEfficiency& e, Section& section) {
  if (e.gpus == 0 && !asked_for_flops(report)) return;
  if (!e.mfu) {
    section.lines.push_back("MFU: not known; " + e.mfu_missing + ".");
    return;
  }
  std::string text = fmt::format(
      "MFU {}: {} of {} TFLOP/s per GPU, the dense {} peak of {}{}; {} per sample, {}.",
      format_percent(*e.mfu), format_number(*e.tflops_per_gpu), format_number(e.peak->tflops),
      e.peak->dtype, e.peak->gpu, e.peak->verified ? "" : " (not confirmed by a second source)",
      format_flops(*e.flops_per_sample), e.flops_source);
  if (e.impossible) {
    text += " More than the GPU can do: the FLOPs, the samples or the peak are wrong.";
  }
  section.lines.push_back(std::move(text));
  if (!e.eta) return;
  std::string tokens;
  if (e.tokens_per_s) tokens = fmt::format(" ({} tokens/s)", format_number(*e.tokens_per_s));
  section.lines.push_back(fmt::format(
      "Efficiency {} = ({} samples/s{} × {} utilization) ÷ ({} samples/s at peak × {} attainable "
      "utilization).",
      format_percent(*e.eta), format_number(*e.samples_per_s), tokens,
      format_percent(*e.utilization), format_number(*e.peak_samples_per_s),
      format_percent(*e.attainable)));
}

std::string goodput_line(const cost::Goodput& goodput) {
  if (!goodput.missing.empty()) return "";
  const std::array<std::pair<model::DurationNs, std::string_view>, 8> parts = {
      {{goodput.startup, "before the first step"},
       {goodput.input, "waiting for data"},
       {goodput.checkpoint, "checkpoints"},
       {goodput.validation, "validation"},
       {goodput.setup, "compilation, starting loaders and slow first steps"},
       {goodput.pauses, "garbage collection and logging"},
       {goodput.between, "between steps"},
       {goodput.after, "after the last step"}}};
  constexpr double kWorthAWord = 0.005;
  std::vector<std::string> words;
  for (const auto& [time, name] : parts) {
    if (goodput.share(time) < kWorthAWord) continue;
    words.push_back(std::string(name) + " " + format_percent(goodput.share(time)));
  }
  return fmt::format("Goodput {}: useful step time, of the time from start to end{}.",
                     format_percent(goodput.share(goodput.useful)),
                     words.empty() ? "" : "; the rest: " + join_with(words));
}

}  // namespace

Section economy_section(const Report& report) {
  Section section;
  // Who gives FLOPs for a trace wants to know why there is no MFU.
  if (!is_recording(report) && !report.assumptions.flops_per_sample) return section;
  const cost::JobEnergy energy = cost::energy_of(report.timeline, report.job, report.assumptions);
  const auto add = [&](std::string line) {
    if (!line.empty()) section.lines.push_back(std::move(line));
  };
  section.title = is_recording(report) ? "Cost, energy and efficiency of the run" : "Efficiency";
  add(money_line(report));
  if (!energy.gpus.empty()) {
    add(gpu_energy_line(energy));
    add(host_energy_line(energy));
    add(carbon_line(energy, report.assumptions));
  }
  add_efficiency(
      report,
      cost::efficiency_of(report.timeline, report.job, report.diagnosis, report.assumptions),
      section);
  add(goodput_line(cost::goodput_of(report.timeline)));
  if (section.lines.empty()) section.title.clear();
  return section;
}

}  // namespace pyrometer::output
