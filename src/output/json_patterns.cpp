#include "output/json_parts.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

void write_sequences(JsonWriter& json, const model::RankTimeline& timeline,
                     const model::Patterns& patterns) {
  json.begin_array();
  for (const model::RepeatedSequence& sequence : patterns.sequences) {
    json.begin_object();
    json.member("count", sequence.count);
    json.member("back_to_back", sequence.back_to_back);
    json.member("device_ns", sequence.device_total);
    json.member("span_ns", sequence.span_total);
    json.key("kernels");
    json.begin_array();
    for (const model::NameId name : sequence.kernels) json.value(timeline.name(name));
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_outliers(JsonWriter& json, const model::RankAnalysis& analysis) {
  json.begin_array();
  for (const model::StepOutlier& outlier : analysis.patterns.outliers) {
    json.begin_object(JsonLayout::kInline);
    const auto& steps = analysis.steps.steps;
    json.member("step", outlier.step < steps.size() ? std::optional(steps[outlier.step].number)
                                                    : std::nullopt);
    json.member("length_ns", outlier.length);
    json.member("sigmas", outlier.sigmas);
    json.end_object();
  }
  json.end_array();
}

void write_critical_path(JsonWriter& json, const model::RankTimeline& timeline,
                         const model::RankAnalysis& analysis) {
  const model::CriticalPath& path = analysis.patterns.critical_path;
  const auto& steps = analysis.steps.steps;
  if (path.step >= steps.size()) {
    json.null();
    return;
  }
  const auto write = [&](model::CriticalSegment::Kind kind, model::NameId name) {
    json.member("kind", word_for(kind).id);
    json.member("name", if_given(timeline.name(name)));
  };
  json.begin_object();
  json.member("step", steps[path.step].number);
  json.key("summary");
  json.begin_array();
  for (const model::CriticalPath::Row& row : path.summary) {
    json.begin_object(JsonLayout::kInline);
    write(row.kind, row.name);
    json.member("total_ns", row.total);
    json.end_object();
  }
  json.end_array();
  json.key("segments");
  json.begin_array();
  for (const model::CriticalSegment& segment : path.segments) {
    json.begin_object(JsonLayout::kInline);
    write(segment.kind, segment.name);
    json.member("offset_ns", segment.span.start - analysis.steps.window.start);
    json.member("length_ns", segment.span.length());
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void write_pauses_json(JsonWriter& json, const model::Pauses& pauses, model::TimeNs origin) {
  json.begin_object();
  json.key("input");
  json.begin_object(JsonLayout::kInline);
  json.member("loader", word_for(pauses.input.kind).id);
  json.member("waits", pauses.input.waits);
  json.member("total_ns", pauses.input.total);
  json.member("p50_ns", pauses.input.p50);
  json.member("max_ns", pauses.input.max);
  json.member("iterator_starts", pauses.input.iterator_starts);
  json.member("iterator_start_ns", pauses.input.iterator_start_time);
  json.member("operators", pauses.input.operators);
  json.end_object();
  json.key("inferred");
  json.begin_array();
  for (const model::InferredRegion& region : pauses.inferred) {
    json.begin_object(JsonLayout::kInline);
    json.member("offset_ns", region.span.start - origin);
    json.member("length_ns", region.span.length());
    json.member("cause", model::cause_info(region.cause).id);
    json.member("copies", region.copies);
    json.member("bytes", region.bytes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_patterns_json(JsonWriter& json, const model::RankTimeline& timeline,
                         const model::RankAnalysis& analysis) {
  const model::Patterns& patterns = analysis.patterns;
  json.begin_object();
  json.member("same_sequence_every_step", patterns.same_sequence_every_step);
  json.key("repeated_sequences");
  write_sequences(json, timeline, patterns);
  json.key("step_outliers");
  write_outliers(json, analysis);
  json.member("outlier_period_steps",
              patterns.outlier_period > 0 ? std::optional(patterns.outlier_period) : std::nullopt);
  json.key("critical_path");
  write_critical_path(json, timeline, analysis);
  json.end_object();
}

}  // namespace pyrometer::output
