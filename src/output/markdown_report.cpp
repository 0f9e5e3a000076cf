#include "output/markdown_report.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "output/bars.h"
#include "output/display.h"
#include "output/economy_section.h"
#include "output/markdown.h"
#include "output/overrides_section.h"
#include "output/run_section.h"
#include "output/sections.h"
#include "output/summary.h"
#include "output/units.h"
#include "output/waterfall_view.h"

namespace pyrometer::output {
namespace {

std::string head_of(const Report& report) {
  std::string out = "## Pyrometer\n\n";
  if (!report.diagnosis.verdict.empty()) {
    out += "**" + markdown_text(report.diagnosis.verdict) + "**\n\n";
  }
  out += std::string("- ") + (is_recording(report) ? "recording" : "trace") + ": " +
         markdown_text(describe_files(report)) + "\n";
  const auto add = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) out += "- " + label + ": " + markdown_text(text) + "\n";
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
    out += "| " + mark + markdown_text(row.label) + mark + " | " + mark +
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
  for (const std::string& note : waterfall_notes(report)) out += markdown_text(note) + "\n\n";
  return out;
}

std::string finding_of(std::size_t number, const model::Finding& finding, const Report& report) {
  constexpr std::string_view kSeverity[] = {"info", "warning", "**critical**"};
  constexpr std::string_view kConfidence[] = {"low", "medium", "high"};
  std::string out =
      "### " + std::to_string(number) + "\\. " + markdown_text(finding.title) + "\n\n";
  out += std::string(kSeverity[static_cast<std::size_t>(finding.severity)]) + ", confidence " +
         std::string(kConfidence[static_cast<std::size_t>(finding.confidence)]) + " · " +
         markdown_name(finding.id) + "\n\n";
  if (!finding.summary.empty()) out += markdown_text(finding.summary) + "\n\n";
  for (const model::Evidence& evidence : finding.evidence) {
    out += "- " + markdown_text(describe_evidence(evidence)) + "\n";
  }
  if (finding.prediction) {
    out += "- **predicted: " + markdown_text(describe_prediction(*finding.prediction)) + "**\n";
    const std::string saving = describe_saving(report, *finding.prediction);
    if (!saving.empty()) out += "- saves " + markdown_text(saving) + "\n";
  } else if (!finding.no_prediction.empty() && any_prediction(report.diagnosis)) {
    out += "- not predicted: " + markdown_text(finding.no_prediction) + "\n";
  }
  if (!finding.order.empty()) out += "- order: " + markdown_text(finding.order) + "\n";
  for (const std::string& where : finding.where) out += "- where: " + markdown_text(where) + "\n";
  out += "\n";
  if (!finding.fix.empty()) out += markdown_text(finding.fix) + "\n\n";
  if (!finding.fix_code.empty()) out += markdown_code(finding.fix_code) + "\n";
  const std::string command = try_command(finding);
  if (finding.severity != model::Severity::kInfo && !command.empty()) {
    out += "With no edit: `" + command + "`\n\n";
  }
  return out;
}

std::string findings_of(const Report& report, const TextStyle& style) {
  const auto& findings = report.diagnosis.findings;
  std::string out;
  if (no_finding_above_info(report.diagnosis))
    out += markdown_text(describe_health(report)) + "\n\n";
  const auto causes = std::count_if(findings.begin(), findings.end(), [](const model::Finding& f) {
    return f.severity != model::Severity::kInfo;
  });
  if (causes > 1 && any_prediction(report.diagnosis)) out += markdown_text(kOrder) + "\n\n";
  std::string rest;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const bool shown = i < static_cast<std::size_t>(std::max(0, style.max_findings));
    (shown ? out : rest) += finding_of(i + 1, findings[i], report);
  }
  if (!rest.empty()) out += markdown_folded("More findings", "\n" + rest);
  if (joint_is_news(report.diagnosis)) {
    const std::string saving = describe_saving(report, *report.diagnosis.joint);
    out += "All fixes together: **" + markdown_text(describe_prediction(*report.diagnosis.joint)) +
           "**" + (saving.empty() ? "" : "; saves " + markdown_text(saving)) + ".\n\n";
  }
  return out;
}

std::string limits_of(const Report& report) {
  std::string out = "\n";
  for (const ImportNote& note : import_notes(report)) {
    out += std::string("- ") + (note.data_loss ? "**data lost** " : "mended ") +
           markdown_text(note.text) + "\n";
  }
  for (const std::string& note : trust_notes(report)) out += "- " + markdown_text(note) + "\n";
  for (const model::NotJudged& item : report.diagnosis.not_judged) {
    out += "- not judged: " + markdown_name(item.id) + ": " + markdown_text(item.reason) + "\n";
  }
  return out;
}

}  // namespace

bool write_markdown_report(const Report& report, const TextStyle& style,
                           const base::TextSink& sink) {
  std::string out = head_of(report) + waterfall_of(report);
  if (report.timeline.ranks.size() > 1) {
    out += "### Ranks\n" + markdown_section(ranks_section(report, report.timeline.ranks.size()));
  }
  out += findings_of(report, style);
  const Section run = run_section(report);
  if (!run.title.empty()) out += "### " + markdown_text(run.title) + "\n" + markdown_section(run);
  const Section overrides = overrides_section(report);
  if (!overrides.empty())
    out += "### " + markdown_text(overrides.title) + "\n" + markdown_section(overrides);
  const Section economy = economy_section(report);
  if (!economy.empty())
    out += "### " + markdown_text(economy.title) + "\n" + markdown_section(economy);
  if (!sink(out)) return false;
  const Section causes = run_waterfall_section(report);
  if (!causes.empty() && !sink(markdown_folded(causes.title, markdown_section(causes))))
    return false;
  const Section lines = host_lines_section(report);
  if (!lines.empty() && !sink(markdown_folded(lines.title, markdown_section(lines)))) return false;
  const Section calls = blocking_lines_section(report);
  if (!calls.empty() && !sink(markdown_folded(calls.title, markdown_section(calls)))) return false;
  for (const Section& section : detail_sections(report, {.top_n = style.top_n})) {
    if (!sink(markdown_folded(section.title, markdown_section(section)))) return false;
  }
  return sink(markdown_folded("How sure this is", limits_of(report)));
}

}  // namespace pyrometer::output
