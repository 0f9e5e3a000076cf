#include <algorithm>

#include "output/json_parts.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

void write_window(JsonWriter& json, const model::Interval& window) {
  json.begin_object(JsonLayout::kInline);
  json.member("start_ns", window.start);
  json.member("end_ns", window.end);
  json.member("length_ns", window.length());
  json.end_object();
}

void write_import(JsonWriter& json, const model::RankTimeline& timeline) {
  json.begin_object();
  json.member("file", timeline.info.file);
  json.member("json_bytes", timeline.info.json_bytes);
  json.member("events", timeline.info.event_count);
  json.member("lost_data", timeline.stats.lost_data());
  json.key("counters");
  json.begin_array();
  for (const model::ImportCounter& counter : timeline.stats.counters()) {
    json.begin_object(JsonLayout::kInline);
    json.member("kind", counter.kind);
    json.member("severity", word_for(counter.severity).id);
    json.member("count", counter.count);
    json.member("first_offset", if_known(counter.first_offset));
    json.member("help", counter.help);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_profiler(JsonWriter& json, const model::RankTimeline& timeline) {
  json.begin_object(JsonLayout::kInline);
  json.member("record_shapes", timeline.info.record_shapes);
  json.member("with_stack", timeline.info.with_stack);
  json.member("profile_memory", timeline.info.profile_memory);
  json.end_object();
}

void write_dilation(JsonWriter& json, const model::Dilation& dilation) {
  json.begin_object();
  json.member("available", dilation.available);
  json.member("missing", if_given(dilation.available ? std::string_view{} : dilation.unavailable));
  const auto write = [&](std::string_view key, double ns) {
    json.member(key, dilation.available ? std::optional(ns) : std::nullopt);
  };
  write("per_op_ns", dilation.per_op_ns);
  write("per_op_low_ns", dilation.per_op_low_ns);
  write("per_op_high_ns", dilation.per_op_high_ns);
  write("ops_per_step", dilation.ops_per_step);
  write("calls_per_step", dilation.calls_per_step);
  write("python_calls_per_step", dilation.python_calls_per_step);
  write("host_speed", dilation.host_speed);
  json.member("basis", if_given(dilation.basis));
  json.end_object();
}

void write_replay(JsonWriter& json, const model::ReplayBaseline& replay) {
  json.begin_object();
  json.member("available", replay.available);
  json.member("missing", if_given(replay.available ? std::string_view{} : replay.unavailable));
  const auto write = [&](std::string_view key, double ns) {
    json.member(key, replay.available ? whole_ns(ns) : std::nullopt);
  };
  write("measured_ns", replay.measured_ns);
  write("replayed_ns", replay.replayed_ns);
  json.member("error", replay.available ? std::optional(replay.error) : std::nullopt);
  write("corrected_ns", replay.corrected_ns);
  write("corrected_low_ns", replay.corrected_low_ns);
  write("corrected_high_ns", replay.corrected_high_ns);
  json.member("steps", replay.steps);
  json.end_object();
}

void write_identity(JsonWriter& json, const model::RankInfo& info) {
  json.member("rank", info.rank);
  json.member("world_size", if_known(info.world_size));
  json.member("rank_source", word_for(info.source).id);
  json.member("host", if_given(info.host));
  json.member("backend", if_given(info.backend));
  json.member("trace_name", if_given(info.trace_name));
  json.member("trace_id", if_given(info.trace_id));
  json.member("is_rocm", info.is_rocm);
  json.member("cuda_runtime_version", if_known(info.cuda_runtime_version));
  json.member("cuda_driver_version", if_known(info.cuda_driver_version));
}

}  // namespace

void write_steps_json(JsonWriter& json, const model::RankAnalysis& analysis) {
  const model::Steps& steps = analysis.steps;
  const bool known = !steps.steps.empty();
  json.begin_object();
  json.member("source", word_for(steps.source).id);
  json.member("how", if_given(steps.how));
  json.member("count", steps.steps.size());
  json.member("worth", steps.worth());
  json.member("backlog_ns", steps.backlog);
  const auto write = [&](std::string_view key, model::DurationNs ns) {
    json.member(key, known ? std::optional(ns) : std::nullopt);
  };
  write("mean_ns", steps.stats.mean);
  write("p50_ns", steps.stats.p50);
  write("p95_ns", steps.stats.p95);
  write("min_ns", steps.stats.min);
  write("max_ns", steps.stats.max);
  json.key("list");
  json.begin_array();
  for (const model::Step& step : steps.steps) {
    json.begin_object(JsonLayout::kInline);
    json.member("number", step.number);
    json.member("offset_ns", step.span.start - steps.window.start);
    json.member("length_ns", step.span.length());
    json.member("marker_offset_ns", step.marker.start - steps.window.start);
    json.member("marker_length_ns", step.marker.length());
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_rank_json(JsonWriter& json, const model::RankTimeline& timeline,
                     const model::RankAnalysis& analysis) {
  json.begin_object();
  write_identity(json, timeline.info);
  json.key("profiler");
  write_profiler(json, timeline);
  json.key("import");
  write_import(json, timeline);
  json.key("window");
  write_window(json, analysis.steps.window);
  json.key("steps");
  write_steps_json(json, analysis);
  json.key("run");
  write_run_json(json, timeline.run.get());
  json.member("skew_known", analysis.waterfall.skew_known);
  json.key("causes");
  write_causes_json(json, analysis.waterfall.causes);
  json.key("devices");
  write_devices_json(json, timeline, analysis);
  json.key("kernels");
  write_kernels_json(json, timeline, analysis.kernels);
  json.key("operators");
  write_operators_json(json, timeline, analysis.host);
  json.key("blocking_calls");
  write_blocking_calls_json(json, timeline, analysis.host);
  json.key("copies");
  write_copies_json(json, analysis.transfers);
  json.key("allocator");
  write_allocator_json(json, analysis.transfers.allocator);
  json.key("communication");
  write_communication_json(json, analysis.comm);
  json.key("pauses");
  write_pauses_json(json, analysis.pauses, analysis.steps.window.start);
  json.key("patterns");
  write_patterns_json(json, timeline, analysis);
  json.key("dilation");
  write_dilation(json, analysis.dilation);
  json.key("replay");
  write_replay(json, analysis.replay);
  json.key("facts");
  write_facts_json(json, analysis.facts);
  json.end_object();
}

}  // namespace pyrometer::output
