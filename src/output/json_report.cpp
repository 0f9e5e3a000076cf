#include "output/json_report.h"

#include "base/version.h"
#include "output/json_parts.h"

namespace pyrometer::output {

bool write_json_report(const Report& report, const TextStyle&, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.report/1");
  json.key("tool");
  json.begin_object(base::JsonLayout::kInline);
  json.member("name", "pyrometer");
  json.member("version", base::version());
  json.end_object();
  json.member("verdict", report.diagnosis.verdict);
  json.key("job");
  write_job_json(json, report);
  json.key("findings");
  write_findings_json(json, report);
  json.key("joint_prediction");
  write_prediction_json(json, report.diagnosis.joint);
  json.key("not_judged");
  write_not_judged_json(json, report);
  json.key("cross_rank");
  write_cross_rank_json(json, report);
  json.key("ranks");
  json.begin_array();
  for (std::size_t i = 0; i < report.timeline.ranks.size(); ++i) {
    write_rank_json(json, report.timeline.ranks[i], report.job.ranks[i]);
  }
  json.end_array();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : report.timeline.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace pyrometer::output
