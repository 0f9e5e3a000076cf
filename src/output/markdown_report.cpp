#include "output/markdown_report.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "output/bars.h"
#include "output/display.h"
#include "output/overrides_section.h"
#include "output/run_section.h"
#include "output/sections.h"
#include "output/summary.h"
#include "output/units.h"
#include "output/waterfall_view.h"

namespace pyrometer::output {
namespace {

constexpr int kNameWidth = 72;  // of names in tables

// Text with everything that Markdown or HTML would act on taken literally. Names in a trace must
// not be able to make links, mentions or markup.
std::string escaped(std::string_view text) {
  const std::string clean = printable(text, true);
  std::string out;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':
        out += "&#64;";
        break;
      case '#':
        out += "&#35;";
        break;
      case ':':
        out += clean.compare(i, 3, "://") == 0 ? "&#58;" : ":";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '~':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

// A name as code. Backticks and line breaks cannot stand in it; a bar would end the cell of a
// table.
std::string code_span(std::string_view text) {
  std::string out = "`";
  for (const char c : printable(text, true)) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : c;
  }
  return out + "`";
}

// A code block whose fence is longer than any run of backticks in it.
std::string code_block(std::string_view code) {
  std::size_t run = 0;
  std::size_t longest = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  std::string out = fence + "python\n";
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    out += printable(code.substr(0, end), true) + "\n";
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return out + fence + "\n";
}

std::string table_of(const Table& table) {
  std::string out = "|";
  for (const Column& column : table.columns) out += " " + escaped(column.title) + " |";
  out += "\n|";
  for (const Column& column : table.columns) {
    out += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  out += "\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = fit_cell(row[i], table.columns[i], kNameWidth, true);
      const bool is_name = table.columns[i].shorten == Shorten::kSymbol && cell != "–";
      out += " " + (is_name ? code_span(cell) : escaped(cell)) + " |";
    }
    out += "\n";
  }
  return out;
}

std::string section_of(const Section& section) {
  std::string out = "\n";
  if (!section.note.empty()) out += escaped(section.note) + "\n\n";
  if (!section.table.rows.empty()) out += table_of(section.table) + "\n";
  for (const std::string& line : section.lines) out += escaped(line) + "\n\n";
  return out;
}

std::string folded(const std::string& title, const std::string& content) {
  return "<details><summary>" + escaped(title) + "</summary>\n" + content + "\n</details>\n\n";
}

std::string head_of(const Report& report) {
  std::string out = "## Pyrometer\n\n";
  if (!report.diagnosis.verdict.empty()) {
    out += "**" + escaped(report.diagnosis.verdict) + "**\n\n";
  }
  out += std::string("- ") + (is_recording(report) ? "recording" : "trace") + ": " +
         escaped(describe_files(report)) + "\n";
  const auto add = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) out += "- " + label + ": " + escaped(text) + "\n";
  };
  add("job", describe_job(report));
  add("step", describe_step_time(report));
  add("price", describe_price(report));
  return out + "\n";
}

std::string waterfall_of(const Report& report) {
  const cost::Usage usage = cost::usage_of(report.job);
  const WaterfallView view = view_of(report.job, usage.step_causes);
  if (view.total == 0) return "No GPU work was recorded.\n\n";
  const std::optional<double> step = usage.step_ns();
  const auto whole = static_cast<double>(view.total);
  DurationUnit unit = duration_unit(step.value_or(whole));
  if (unit.ns > 1) ++unit.decimals;  // the parts are smaller than the whole
  std::string out = "| where the GPU time goes | share | | " + std::string(unit.name) +
                    (step ? "/step |" : " |") + (report.price ? " USD/day |" : "") +
                    "\n| --- | ---: | --- | ---: |" + (report.price ? " ---: |" : "") + "\n";
  const auto add = [&](const WaterfallRow& row, bool half) {
    const std::string mark = half ? "**" : "";
    const double fraction = static_cast<double>(row.time) / whole;
    const double time =
        step ? static_cast<double>(row.step_time) / usage.gpu_steps : static_cast<double>(row.time);
    constexpr int kBar = 20;
    out += "| " + mark + escaped(row.label) + mark + " | " + mark +
           format_tenths_of_percent(row.tenths) + mark + " | " +
           (half ? "" : bar(fraction, kBar, true)) + " | " + unit.format(time) + " |";
    if (report.price) {
      const double day = cost::usd_per_day(1, usage.gpus, *report.price);
      out += " " + format_usd_part(fraction * day, day) + " |";
    }
    out += "\n";
  };
  for (const WaterfallHalf* half : {&view.busy, &view.idle}) {
    add({.label = half == &view.idle ? "GPU idle" : "GPU busy",
         .time = half->time,
         .step_time = half->step_time,
         .tenths = half->tenths},
        true);
    for (const WaterfallRow& row : half->rows) {
      add(row, false);
      for (const WaterfallPart& part : row.parts) {
        const double share = static_cast<double>(part.time) / whole;
        add({.label = "… of it " + part.label,
             .time = part.time,
             .step_time = part.time,
             .tenths = std::min<std::int64_t>(row.tenths, std::llround(share * 1000))},
            false);
      }
    }
  }
  out += "\n";
  for (const std::string& note : waterfall_notes(report)) out += escaped(note) + "\n\n";
  return out;
}

std::string finding_of(std::size_t number, const model::Finding& finding, const Report& report) {
  constexpr std::string_view kSeverity[] = {"info", "warning", "**critical**"};
  constexpr std::string_view kConfidence[] = {"low", "medium", "high"};
  std::string out = "### " + std::to_string(number) + "\\. " + escaped(finding.title) + "\n\n";
  out += std::string(kSeverity[static_cast<std::size_t>(finding.severity)]) + ", confidence " +
         std::string(kConfidence[static_cast<std::size_t>(finding.confidence)]) + " · " +
         code_span(finding.id) + "\n\n";
  if (!finding.summary.empty()) out += escaped(finding.summary) + "\n\n";
  for (const model::Evidence& evidence : finding.evidence) {
    out += "- " + escaped(describe_evidence(evidence)) + "\n";
  }
  if (finding.prediction) {
    out += "- **predicted: " + escaped(describe_prediction(*finding.prediction)) + "**\n";
    const std::string saving = describe_saving(report, *finding.prediction);
    if (!saving.empty()) out += "- saves " + escaped(saving) + "\n";
  } else if (!finding.no_prediction.empty() && any_prediction(report.diagnosis)) {
    out += "- not predicted: " + escaped(finding.no_prediction) + "\n";
  }
  if (!finding.order.empty()) out += "- order: " + escaped(finding.order) + "\n";
  for (const std::string& where : finding.where) out += "- where: " + escaped(where) + "\n";
  out += "\n";
  if (!finding.fix.empty()) out += escaped(finding.fix) + "\n\n";
  if (!finding.fix_code.empty()) out += code_block(finding.fix_code) + "\n";
  return out;
}

std::string findings_of(const Report& report, const TextStyle& style) {
  const auto& findings = report.diagnosis.findings;
  std::string out;
  if (no_finding_above_info(report.diagnosis)) out += escaped(describe_health(report)) + "\n\n";
  const auto causes = std::count_if(findings.begin(), findings.end(), [](const model::Finding& f) {
    return f.severity != model::Severity::kInfo;
  });
  if (causes > 1 && any_prediction(report.diagnosis)) out += escaped(kOrder) + "\n\n";
  std::string rest;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const bool shown = i < static_cast<std::size_t>(std::max(0, style.max_findings));
    (shown ? out : rest) += finding_of(i + 1, findings[i], report);
  }
  if (!rest.empty()) out += folded("More findings", "\n" + rest);
  if (joint_is_news(report.diagnosis)) {
    const std::string saving = describe_saving(report, *report.diagnosis.joint);
    out += "All fixes together: **" + escaped(describe_prediction(*report.diagnosis.joint)) + "**" +
           (saving.empty() ? "" : "; saves " + escaped(saving)) + ".\n\n";
  }
  return out;
}

std::string limits_of(const Report& report) {
  std::string out = "\n";
  for (const ImportNote& note : import_notes(report)) {
    out += std::string("- ") + (note.data_loss ? "**data lost** " : "mended ") +
           escaped(note.text) + "\n";
  }
  for (const std::string& note : trust_notes(report)) out += "- " + escaped(note) + "\n";
  for (const model::NotJudged& item : report.diagnosis.not_judged) {
    out += "- not judged: " + code_span(item.id) + ": " + escaped(item.reason) + "\n";
  }
  return out;
}

}  // namespace

bool write_markdown_report(const Report& report, const TextStyle& style,
                           const base::TextSink& sink) {
  std::string out = head_of(report) + waterfall_of(report);
  if (report.timeline.ranks.size() > 1) {
    out += "### Ranks\n" + section_of(ranks_section(report, report.timeline.ranks.size()));
  }
  out += findings_of(report, style);
  const Section run = run_section(report);
  if (!run.title.empty()) out += "### " + escaped(run.title) + "\n" + section_of(run);
  const Section overrides = overrides_section(report);
  if (!overrides.empty()) out += "### " + escaped(overrides.title) + "\n" + section_of(overrides);
  if (!sink(out)) return false;
  const Section causes = run_waterfall_section(report);
  if (!causes.empty() && !sink(folded(causes.title, section_of(causes)))) return false;
  const Section lines = host_lines_section(report);
  if (!lines.empty() && !sink(folded(lines.title, section_of(lines)))) return false;
  const Section calls = blocking_lines_section(report);
  if (!calls.empty() && !sink(folded(calls.title, section_of(calls)))) return false;
  for (const Section& section : detail_sections(report, {.top_n = style.top_n})) {
    if (!sink(folded(section.title, section_of(section)))) return false;
  }
  return sink(folded("How sure this is", limits_of(report)));
}

}  // namespace pyrometer::output
