#include "cost/price.h"
#include "model/overrides.h"
#include "output/json_parts.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

void write_evidence(JsonWriter& json, const model::Evidence& evidence) {
  json.begin_object(JsonLayout::kInline);
  json.member("fact", evidence.fact);
  json.member("value", evidence.value);
  json.member("unit", evidence.unit);
  json.member("comparison", if_given(evidence.comparison));
  json.member("threshold", evidence.threshold);
  json.member("threshold_source", if_given(evidence.threshold_source));
  json.member("note", if_given(evidence.note));
  json.end_object();
}

void write_range_members(JsonWriter& json, std::string_view low_key, std::string_view high_key,
                         const cost::Range& range) {
  json.member(low_key, range.low);
  json.member(high_key, range.high);
}

void write_saving(JsonWriter& json, const Report& report,
                  const std::optional<model::Prediction>& prediction) {
  if (!prediction) {
    json.null();
    return;
  }
  const cost::Saving saving = cost::saving_of(*prediction);
  json.begin_object();
  write_range_members(json, "share_low", "share_high", saving.share);
  json.member("step_low_ns", whole_ns(saving.step_ns.low));
  json.member("step_high_ns", whole_ns(saving.step_ns.high));
  json.key("usd");
  if (report.price) {
    const std::int64_t gpus = cost::usage_of(report.job).gpus;
    const cost::Price& price = *report.price;
    json.begin_object(JsonLayout::kInline);
    json.member("gpus", gpus);
    write_range_members(json, "per_day_low", "per_day_high",
                        {cost::usd_per_day(saving.share.low, gpus, price),
                         cost::usd_per_day(saving.share.high, gpus, price)});
    write_range_members(json, "per_1000_steps_low", "per_1000_steps_high",
                        {cost::usd_per_1000_steps(saving.step_ns.low, gpus, price),
                         cost::usd_per_1000_steps(saving.step_ns.high, gpus, price)});
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

void write_finding(JsonWriter& json, const Report& report, const model::Finding& finding) {
  json.begin_object();
  json.member("id", finding.id);
  json.member("severity", word_for(finding.severity).id);
  json.member("confidence", word_for(finding.confidence).id);
  json.member("title", finding.title);
  json.member("summary", finding.summary);
  json.key("ranks");
  json.begin_array(JsonLayout::kInline);
  for (const std::int32_t rank : finding.ranks) json.value(rank);
  json.end_array();
  json.member("share_of_time", finding.share_of_time);
  json.key("evidence");
  json.begin_array();
  for (const model::Evidence& evidence : finding.evidence) write_evidence(json, evidence);
  json.end_array();
  json.key("prediction");
  write_prediction_json(json, finding.prediction);
  json.member("no_prediction", if_given(finding.no_prediction));
  json.key("saving");
  write_saving(json, report, finding.prediction);
  json.member("fix", finding.fix);
  json.member("fix_code", if_given(finding.fix_code));
  json.key("overrides");
  json.begin_array(JsonLayout::kInline);
  for (const model::OverrideInfo* info : model::overrides_for(finding.id)) json.value(info->id);
  json.end_array();
  json.key("where");
  json.begin_array();
  for (const std::string& where : finding.where) json.value(where);
  json.end_array();
  json.end_object();
}

}  // namespace

void write_findings_json(JsonWriter& json, const Report& report) {
  json.begin_array();
  for (const model::Finding& finding : report.diagnosis.findings) {
    write_finding(json, report, finding);
  }
  json.end_array();
}

void write_prediction_json(JsonWriter& json, const std::optional<model::Prediction>& maybe) {
  if (!maybe) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("baseline_ns", whole_ns(maybe->baseline_ns));
  json.member("low_ns", whole_ns(maybe->low_ns));
  json.member("mid_ns", whole_ns(maybe->mid_ns));
  json.member("high_ns", whole_ns(maybe->high_ns));
  json.member("speedup_low", maybe->speedup_low());
  json.member("speedup_high", maybe->speedup_high());
  json.member("baseline_error", maybe->baseline_error);
  json.member("model", maybe->model);
  json.end_object();
}

void write_not_judged_json(JsonWriter& json, const Report& report) {
  json.begin_array();
  for (const model::NotJudged& item : report.diagnosis.not_judged) {
    json.begin_object(JsonLayout::kInline);
    json.member("id", item.id);
    json.member("reason", item.reason);
    json.end_object();
  }
  json.end_array();
}

}  // namespace pyrometer::output
