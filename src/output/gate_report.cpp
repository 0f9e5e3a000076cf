#include "output/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/section_tools.h"
#include "output/summary.h"
#include "output/xml_text.h"

namespace pyrometer::output {
namespace {

using verify::Check;
using verify::GateResult;
using verify::Verdict;

std::string_view verdict_id(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kFail:
      return "fail";
    case Verdict::kError:
      return "error";
  }
  return "";
}

std::string describe(const GateResult& result) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(result.checks.begin(), result.checks.end(),
                         [verdict](const Check& check) { return check.verdict == verdict; });
  };
  const auto all = static_cast<std::int64_t>(result.checks.size());
  switch (result.verdict) {
    case Verdict::kPass:
      return "Passed: " + (all == 1 ? "the limit is kept." : count_of(all, "limit") + " kept.");
    case Verdict::kInconclusive:
      return "Not decided: " + count_of(count(Verdict::kInconclusive), "limit") + " of " +
             std::to_string(all) + " within the noise.";
    case Verdict::kFail:
      return "Failed: " + count_of(count(Verdict::kFail), "limit") + " of " + std::to_string(all) +
             " not kept.";
    case Verdict::kError:
      return "Cannot be judged: " + count_of(count(Verdict::kError), "check") + " of " +
             std::to_string(all) + " without an answer.";
  }
  return "";
}

}  // namespace

Document gate_document(const GateResult& result) {
  Document out{.title = "gate"};
  out.headline = describe(result);
  Section section{.title = "Limits"};
  section.table.columns = {text_column(""), text_column("limit"), text_column("measured"),
                           text_column("allowed", 1)};
  for (const Check& check : result.checks) {
    section.table.rows.push_back({std::string(verdict_id(check.verdict)), check.name,
                                  check.measured.empty() ? "–" : check.measured, check.limit});
    if (check.reason.empty()) continue;
    // The id of a fact is to be copied as it is.
    const std::string said = check.name + ": " + check.reason;
    section.lines.push_back(check.name.find('.') == std::string::npos
                                ? sentence(said)
                                : said + (said.ends_with('.') ? "" : "."));
  }
  out.sections.push_back(std::move(section));
  const auto runs = [](std::size_t n) { return count_of(static_cast<std::int64_t>(n), "run"); };
  out.head = {{"candidate", runs(result.candidate_runs)}};
  if (result.baseline_runs > 0) out.head.emplace_back("baseline", runs(result.baseline_runs));
  out.notes = result.notes;
  return out;
}

bool write_gate_json(const GateResult& result, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.gate/1");
  json.member("verdict", verdict_id(result.verdict));
  json.member("summary", describe(result));
  json.member("baseline_runs", result.baseline_runs);
  json.member("candidate_runs", result.candidate_runs);
  json.key("checks");
  json.begin_array();
  for (const Check& check : result.checks) {
    json.begin_object();
    json.member("name", check.name);
    json.member("verdict", verdict_id(check.verdict));
    json.member("limit", check.limit);
    json.member("measured", check.measured);
    json.member("value", check.value);
    const bool known = check.value && check.interval.known;
    json.member("low", known ? std::optional(check.interval.low) : std::nullopt);
    json.member("high", known ? std::optional(check.interval.high) : std::nullopt);
    json.member("reason", check.reason.empty() ? std::nullopt
                                               : std::optional<std::string_view>(check.reason));
    json.end_object();
  }
  json.end_array();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : result.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.finish();
}

std::string gate_junit(const GateResult& result) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(result.checks.begin(), result.checks.end(),
                         [verdict](const Check& check) { return check.verdict == verdict; });
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuites>\n<testsuite name=\"pyrometer gate\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\">\n",
      result.checks.size(), count(Verdict::kFail), count(Verdict::kError),
      count(Verdict::kInconclusive));
  for (const Check& check : result.checks) {
    out += "<testcase classname=\"pyrometer.gate\" name=\"" + xml_text(check.name) + "\">";
    const std::string text = xml_text(check.measured.empty() ? check.reason : check.measured);
    const std::string limit = xml_text(check.limit);
    switch (check.verdict) {
      case Verdict::kPass:
        out += "<system-out>" + text + ", allowed: " + limit + "</system-out>";
        break;
      case Verdict::kFail:
        out += "<failure message=\"" + text + ", allowed: " + limit + "\"/>";
        break;
      case Verdict::kInconclusive:
        out += "<skipped message=\"not decided: " + text + ", allowed: " + limit + "\"/>";
        break;
      case Verdict::kError:
        out += "<error message=\"" + text + "\"/>";
        break;
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

}  // namespace pyrometer::output
