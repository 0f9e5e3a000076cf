#include "output/text_report.h"

#include <algorithm>

#include "output/display.h"
#include "output/economy_section.h"
#include "output/overrides_section.h"
#include "output/page.h"
#include "output/run_section.h"
#include "output/sections.h"
#include "output/summary.h"
#include "output/text_parts.h"
#include "output/units.h"

namespace pyrometer::output {
namespace {

constexpr int kIndent = 2;
constexpr int kLabel = 8;
constexpr std::size_t kFewRanks = 16;

void write_head(Page& page, const Report& report) {
  if (!report.diagnosis.verdict.empty()) {
    page.paragraph(0, 0, {{report.diagnosis.verdict, Ink::kStrong}});
    page.blank();
  }
  const auto row = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) page.labelled(kIndent, kLabel, label, {{text}});
  };
  constexpr int kMargin = kIndent + kLabel;
  row(is_recording(report) ? "file" : "trace",
      shorten_middle(describe_files(report), page.width() - kMargin, page.unicode()));
  row("job", describe_job(report));
  row("step", describe_step_time(report));
  row("price", describe_price(report));
}

void write_section(Page& page, const Section& section) {
  page.heading(section.title);
  if (!section.note.empty()) page.paragraph(kIndent, kIndent, {{section.note, Ink::kFaint}});
  if (!section.table.rows.empty()) page.table(kIndent, section.table);
  for (const std::string& line : section.lines) page.paragraph(kIndent, kIndent + 2, {{line}});
}

// How far all this may be believed.
void write_limits(Page& page, const Report& report, bool verbose) {
  page.heading("How sure this is");
  for (const ImportNote& note : import_notes(report)) {
    page.paragraph(
        kIndent, kIndent + 2,
        {{note.data_loss ? "DATA LOST  " : "mended  ", note.data_loss ? Ink::kBad : Ink::kFaint},
         {note.text}});
  }
  for (const std::string& note : trust_notes(report)) {
    page.paragraph(kIndent, kIndent + 2, {{note}});
  }
  if (!verbose) {
    const std::string text = describe_not_judged(report);
    if (!text.empty()) page.paragraph(kIndent, kIndent + 2, {{sentence(text)}});
    return;
  }
  for (const model::NotJudged& item : report.diagnosis.not_judged) {
    page.paragraph(kIndent, kIndent + 2,
                   {{"not judged  ", Ink::kFaint}, {item.id + ": " + item.reason}});
  }
}

void write_hints(Page& page, const Report& report, bool verbose) {
  std::string text;
  if (!verbose) text += "-v shows all tables";
  const bool has_gpu = model::total(report.job.causes) > 0;
  if (!report.price && has_gpu)
    text += std::string(text.empty() ? "" : ", ") + "--price USD adds money";
  text += std::string(text.empty() ? "" : ", ") +
          "--json and --md write the report for programs and for pull requests.";
  page.blank();
  page.paragraph(0, 0, {{text, Ink::kFaint}});
}

}  // namespace

bool write_text_report(const Report& report, const TextStyle& style, const base::TextSink& sink) {
  Page page(style);
  write_head(page, report);
  write_waterfall(page, report);
  const std::size_t ranks = report.timeline.ranks.size();
  if (ranks > 1) {
    write_section(page, ranks_section(report, style.verbose ? ranks : kFewRanks));
  }
  write_findings(page, report, style);
  const Section run = run_section(report);
  if (!run.title.empty()) write_section(page, run);
  const Section overrides = overrides_section(report);
  if (!overrides.empty()) write_section(page, overrides);
  const Section economy = economy_section(report);
  if (!economy.empty()) write_section(page, economy);
  if (style.verbose) {
    const Section causes = run_waterfall_section(report);
    if (!causes.empty()) write_section(page, causes);
    const Section lines = host_lines_section(report);
    if (!lines.empty()) write_section(page, lines);
    const Section calls = blocking_lines_section(report);
    if (!calls.empty()) write_section(page, calls);
  }
  if (!sink(page.take())) return false;

  if (style.verbose) {
    const SectionStyle section_style{
        .top_n = style.top_n, .unicode = style.unicode, .width = page.width()};
    for (const Section& section : detail_sections(report, section_style)) {
      write_section(page, section);
    }
    if (!sink(page.take())) return false;
  }
  write_limits(page, report, style.verbose);
  if (style.hints) write_hints(page, report, style.verbose);
  return sink(page.take());
}

}  // namespace pyrometer::output
