#include "cost/price.h"
#include "output/json_parts.h"
#include "output/summary.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

struct Money {
  const cost::Usage& usage;
  const cost::Price& price;
};

// Members of an open object: what GPU time costs, of which so much is within steps.
void write_money_members(JsonWriter& json, model::DurationNs gpu_time, model::DurationNs in_steps,
                         const Money& money) {
  const auto time = static_cast<double>(gpu_time);
  json.member("window_usd", cost::usd(time, money.price));
  const double share =
      money.usage.gpu_time > 0 ? time / static_cast<double>(money.usage.gpu_time) : 0;
  json.member("usd_per_day", cost::usd_per_day(share, money.usage.gpus, money.price));
  std::optional<double> per_1000;
  if (money.usage.gpu_steps > 0) {
    per_1000 = cost::usd_per_1000_steps(static_cast<double>(in_steps) / money.usage.gpu_steps,
                                        money.usage.gpus, money.price);
  }
  json.member("usd_per_1000_steps", per_1000);
}

void write_cost(JsonWriter& json, const Report& report, const cost::Usage& usage) {
  if (!report.price) {
    json.null();
    return;
  }
  const Money money{usage, *report.price};
  json.begin_object();
  json.member("usd_per_gpu_hour", report.price->usd_per_gpu_hour);
  json.member("price_source", report.price->source);
  json.member("gpus", usage.gpus);
  write_money_members(json, usage.gpu_time, model::total(usage.step_causes), money);
  json.key("causes");
  json.begin_object();
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    json.key(model::cause_info(static_cast<model::Cause>(i)).id);
    json.begin_object(JsonLayout::kInline);
    write_money_members(json, report.job.causes[i], usage.step_causes[i], money);
    json.end_object();
  }
  json.end_object();
  json.end_object();
}

void write_step_time(JsonWriter& json, const Report& report) {
  const StepTime time = step_time(report);
  json.begin_object();
  const auto if_corrected = [&](double ns) {
    return time.corrected ? whole_ns(ns) : std::optional<std::int64_t>();
  };
  json.member("recorded_ns",
              time.known ? whole_ns(time.recorded_ns) : std::optional<std::int64_t>());
  json.member("without_profiler_ns", if_corrected(time.without_profiler_ns));
  json.member("without_profiler_low_ns", if_corrected(time.low_ns));
  json.member("without_profiler_high_ns", if_corrected(time.high_ns));
  json.member("basis", if_given(time.basis));
  json.member("missing", if_given(time.known ? time.why_not : "no steps were found"));
  json.end_object();
}

}  // namespace

void write_job_json(JsonWriter& json, const Report& report) {
  const cost::Usage usage = cost::usage_of(report.job);
  json.begin_object();
  json.member("ranks", report.timeline.ranks.size());
  json.member("gpus", usage.gpus);
  json.member("gpu_time_ns", usage.gpu_time);
  const model::DurationNs busy = model::busy_time(report.job.causes);
  json.member("busy_ns", busy);
  json.member("idle_ns", model::total(report.job.causes) - busy);
  const std::optional<double> step = usage.step_ns();
  json.member("gpu_steps", usage.gpu_steps);
  json.member("gpu_time_per_step_ns", step ? whole_ns(*step) : std::optional<std::int64_t>());
  json.key("step_time");
  write_step_time(json, report);
  json.key("causes");
  write_causes_json(json, report.job.causes);
  json.key("cost");
  write_cost(json, report, usage);
  json.member("cost_missing", if_given(report.price                   ? std::string_view()
                                       : report.price_missing.empty() ? "no price was given"
                                                                      : report.price_missing));
  json.key("run_cost");
  write_run_cost_json(json, report);
  json.key("energy");
  write_energy_json(json, report);
  json.key("efficiency");
  write_efficiency_json(json, report);
  json.key("goodput");
  write_goodput_json(json, report);
  json.key("facts");
  write_facts_json(json, report.job.facts);
  json.end_object();
}

void write_causes_json(JsonWriter& json, const model::CauseTimes& causes) {
  const auto whole = static_cast<double>(model::total(causes));
  json.begin_object();
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    json.key(model::cause_info(static_cast<model::Cause>(i)).id);
    json.begin_object(JsonLayout::kInline);
    json.member("ns", causes[i]);
    json.member("share", whole > 0 ? static_cast<double>(causes[i]) / whole : 0.0);
    json.end_object();
  }
  json.end_object();
}

void write_cause_ns_json(JsonWriter& json, const model::CauseTimes& causes) {
  json.begin_object(JsonLayout::kInline);
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (causes[i] != 0) json.member(model::cause_info(static_cast<model::Cause>(i)).id, causes[i]);
  }
  json.end_object();
}

void write_facts_json(JsonWriter& json, const model::FactSet& facts) {
  json.begin_array();
  for (std::size_t i = 0; i < model::kFactCount; ++i) {
    const auto id = static_cast<model::FactId>(i);
    if (!facts.judged(id)) continue;  // of the job where this is a rank, or the other way round
    const model::FactInfo& info = model::fact_info(id);
    json.begin_object(JsonLayout::kInline);
    json.member("id", info.id);
    json.key("value");
    if (const std::optional<double> number = facts.value(id)) {
      json.value(*number);
    } else if (facts.has(id)) {
      json.value(facts.text(id));
    } else {
      json.null();
    }
    json.member("unit", info.unit);
    json.member("missing", if_given(facts.missing_reason(id)));
    json.end_object();
  }
  json.end_array();
}

void write_stats_members(JsonWriter& json, const model::DurationStats& stats) {
  json.member("count", stats.count);
  json.member("total_ns", stats.total);
  json.member("mean_ns", stats.mean);
  json.member("p50_ns", stats.p50);
  json.member("p95_ns", stats.p95);
  json.member("max_ns", stats.max);
}

}  // namespace pyrometer::output
