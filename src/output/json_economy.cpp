// Money, energy and efficiency of the run.
#include "cost/efficiency.h"
#include "cost/energy.h"
#include "cost/run_cost.h"
#include "output/json_parts.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

void write_gpu_energy(JsonWriter& json, const cost::GpuEnergy& gpu) {
  json.begin_object(JsonLayout::kInline);
  json.member("rank", gpu.rank);
  json.member("ordinal", gpu.ordinal);
  json.member("counter_j", gpu.counter_j);
  json.member("polled_j", gpu.polled_j);
  json.member("covered_ns", gpu.joules() ? std::optional(gpu.covered) : std::nullopt);
  json.member("per_step_j", gpu.step_j);
  json.member("diverges", gpu.diverges);
  json.member("missing", if_given(gpu.missing));
  json.end_object();
}

}  // namespace

void write_run_cost_json(JsonWriter& json, const Report& report) {
  const cost::RunUsage usage = cost::run_usage(report.timeline, report.job);
  if (usage.gpus == 0) return json.null();
  const auto money = [&](std::optional<double> gpu_ns) -> std::optional<double> {
    if (!gpu_ns || !report.price) return std::nullopt;
    return cost::usd(*gpu_ns, *report.price);
  };
  json.begin_object();
  json.member("gpus", usage.gpus);
  json.member("elapsed_ns", usage.elapsed);
  json.member("gpu_time_ns", usage.gpu_time);
  json.member("usd", money(static_cast<double>(usage.gpu_time)));
  json.member("usd_per_step", money(usage.step_ns));
  json.member("usd_per_sample", money(usage.sample_ns));
  json.member("usd_per_epoch", money(usage.epoch_ns));
  json.end_object();
}

void write_energy_json(JsonWriter& json, const Report& report) {
  const cost::JobEnergy energy = cost::energy_of(report.timeline, report.job, report.assumptions);
  if (energy.gpus.empty()) return json.null();
  const cost::Assumptions& given = report.assumptions;
  json.begin_object();
  json.member("gpu_j", energy.gpu_j);
  json.member("by_counter", energy.all_by_counter);
  json.member("diverges", energy.diverges);
  json.member("gpu_j_per_step", energy.step_j);
  json.member("gpu_j_per_sample", energy.sample_j);
  json.member("gpu_missing", if_given(energy.gpu_missing));
  json.member("cpu_j", energy.cpu_j);
  json.member("memory_j", energy.memory_j);
  json.member("host_missing", if_given(energy.host_missing));
  json.member("total_j", energy.total_j);
  json.member("total_kwh",
              energy.total_j ? std::optional(*energy.total_j / cost::kJoulesPerKwh) : std::nullopt);
  json.member("pue", given.pue);
  json.member("pue_source", if_given(given.pue_source));
  json.member("grid_g_per_kwh", given.grid_g_per_kwh);
  json.member("grid_source", if_given(given.grid_source));
  json.member("carbon_kg", energy.carbon_kg);
  json.member("carbon_missing", if_given(energy.carbon_missing));
  json.key("gpus");
  json.begin_array();
  for (const cost::GpuEnergy& gpu : energy.gpus) write_gpu_energy(json, gpu);
  json.end_array();
  json.end_object();
}

void write_efficiency_json(JsonWriter& json, const Report& report) {
  const cost::JobEfficiency e =
      cost::efficiency_of(report.timeline, report.job, report.diagnosis, report.assumptions);
  if (e.gpus == 0) return json.null();
  json.begin_object();
  json.member("samples_per_s", e.samples_per_s);
  json.member("tokens_per_s", e.tokens_per_s);
  json.member("flops_per_sample", e.flops_per_sample);
  json.member("flops_source", if_given(e.flops_per_sample ? e.flops_source : std::string()));
  json.member("flops_missing", if_given(e.flops_missing));
  json.member("tflops_per_gpu", e.tflops_per_gpu);
  json.member("peak_tflops", e.peak ? std::optional(e.peak->tflops) : std::nullopt);
  json.member("peak_dtype", if_given(e.peak ? e.peak->dtype : std::string()));
  json.member("peak_source", if_given(e.peak ? e.peak->source : std::string()));
  json.member("peak_verified", e.peak ? std::optional(e.peak->verified) : std::nullopt);
  json.member("peak_missing", if_given(e.peak_missing));
  json.member("mfu", e.mfu);
  json.member("mfu_missing", if_given(e.mfu_missing));
  json.member("utilization", e.utilization);
  json.member("attainable_utilization", e.attainable);
  json.member("peak_samples_per_s", e.peak_samples_per_s);
  json.member("eta", e.eta);
  json.member("impossible", e.impossible);
  json.end_object();
}

void write_goodput_json(JsonWriter& json, const Report& report) {
  const cost::Goodput goodput = cost::goodput_of(report.timeline);
  if (!goodput.missing.empty()) return json.null();
  json.begin_object();
  json.member("goodput", goodput.share(goodput.useful));
  json.member("elapsed_ns", goodput.elapsed);
  json.member("useful_ns", goodput.useful);
  json.member("startup_ns", goodput.startup);
  json.member("setup_ns", goodput.setup);
  json.member("input_ns", goodput.input);
  json.member("checkpoint_ns", goodput.checkpoint);
  json.member("validation_ns", goodput.validation);
  json.member("pauses_ns", goodput.pauses);
  json.member("between_ns", goodput.between);
  json.member("after_ns", goodput.after);
  json.end_object();
}

}  // namespace pyrometer::output
