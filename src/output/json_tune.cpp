#include <optional>
#include <string>
#include <string_view>

#include "output/json_interval.h"
#include "output/json_parts.h"
#include "output/tune_report.h"

namespace pyrometer::output {
namespace {

using tune::Front;
using tune::Measurement;
using tune::Outcome;
using tune::Tried;
using tune::TuneResult;
using tune::Verdict;

std::string_view verdict_id(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kNothing:
      return "nothing_to_gain";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kNoFirst:
      return "no_first";
    case Verdict::kNoneWorks:
      return "none_works";
  }
  return "";
}

void write_point(base::JsonWriter& json, const TuneResult& result, const tune::Point& point) {
  json.begin_object(base::JsonLayout::kInline);
  for (std::size_t d = 0; d < point.size(); ++d) {
    json.member(result.space.dimensions[d].name, result.space.value(point, d));
  }
  json.end_object();
}

std::string_view outcome_id(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured:
      return "measured";
    case Outcome::kOutOfMemory:
      return "out_of_memory";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kNotReached:
      return "not_reached";
    case Outcome::kExcluded:
      return "excluded";
  }
  return "";
}

void write_tried(base::JsonWriter& json, const TuneResult& result, const Tried& one) {
  const Measurement& last = one.last;
  json.begin_object();
  json.key("values");
  write_point(json, result, last.point);
  json.member("outcome", outcome_id(last.outcome));
  json.member("reason", if_given(last.reason));
  json.member("trials", one.trials);
  json.member("length", last.outcome == Outcome::kExcluded
                            ? std::optional<double>()
                            : std::optional(tune::share_of_length(last.rung)));
  json.member("objective", one.cost ? std::optional(tune::objective_of(*one.cost, result.objective))
                                    : std::nullopt);
  json.member("steps", last.steps);
  json.member("step_ns", last.step_ns);
  json.member("samples_per_step", last.samples_per_step);
  json.member("samples_per_second", tune::samples_per_second(last));
  json.member("gpus", last.gpus);
  json.member("usd_per_million_samples", tune::usd_per_million_samples(last));
  json.member("joules_per_sample", tune::joules_per_sample(last));
  json.member("peak_memory_bytes", last.peak_memory);
  json.member("loss", last.loss);
  json.member("seconds_to_loss", last.seconds_to_loss);
  json.end_object();
}

void write_front(base::JsonWriter& json, const TuneResult& result, const Front& front) {
  json.begin_object();
  json.member("against", front.id);
  json.key("configurations");
  json.begin_array();
  for (const std::size_t i : front.members) {
    const Measurement& one = result.tried[i].last;
    json.begin_object(base::JsonLayout::kInline);
    json.key("values");
    write_point(json, result, one.point);
    json.member("samples_per_second", tune::samples_per_second(one));
    json.member("cost", tune::cost_on(front, one));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

bool write_tune_json(const TuneResult& result, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.tune/1");
  json.member("verdict", tune_verdict(result));
  json.member("verdict_id", verdict_id(result.verdict));
  json.member("interrupted", result.interrupted);
  json.member("out_of_budget", result.out_of_budget);
  json.member("objective", tune::info_of(result.objective).id);
  json.member("target_loss", result.target_loss);
  json.member("seed", result.seed);
  json.member("file", result.file);
  json.member("exhaustive", result.exhaustive);
  json.key("space");
  json.begin_array();
  for (const tune::Dimension& one : result.space.dimensions) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("name", one.name);
    json.key("values");
    json.begin_array(base::JsonLayout::kInline);
    for (const std::string& value : one.values) json.value(value);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.key("first");
  write_point(json, result, result.first);
  json.key("configurations");
  json.begin_array();
  for (const Tried& one : result.tried) write_tried(json, result, one);
  json.end_array();
  json.member("trials", tune::trials_of(result));
  json.member("taken_over", result.taken_over);
  json.key("finals");
  json.begin_array();
  for (const tune::Final& one : result.finals) {
    json.begin_object();
    json.key("values");
    write_point(json, result, one.point);
    json.member("verdict", tune::id_of(one.verdict));
    json.member("reason", if_given(one.reason));
    json.key("cost_ratio");
    write_interval_json(json, one.pairs > 0 ? std::optional(one.ratio) : std::nullopt);
    json.member("pairs", one.pairs);
    json.end_object();
  }
  json.end_array();
  json.key("fronts");
  json.begin_array();
  for (const Front& front : result.fronts) write_front(json, result, front);
  json.end_array();
  json.key("best");
  if (result.best) {
    json.begin_object();
    json.key("values");
    write_point(json, result, *result.best);
    json.key("cost_ratio");
    write_interval_json(
        json, result.verdict == Verdict::kBetter ? std::optional(result.best_ratio) : std::nullopt);
    json.end_object();
  } else {
    json.null();
  }
  json.member("command", if_given(result.command));
  json.key("notes");
  json.begin_array();
  for (const std::string& note : result.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace pyrometer::output
