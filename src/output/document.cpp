#include "output/document.h"

#include "output/markdown.h"
#include "output/page.h"
#include "output/summary.h"

namespace pyrometer::output {
namespace {

constexpr int kIndent = 2;

void write_section(Page& page, const Section& section) {
  page.heading(section.title);
  if (!section.note.empty()) page.paragraph(kIndent, kIndent, {{section.note, Ink::kFaint}});
  if (!section.table.rows.empty()) page.table(kIndent, section.table);
  if (!section.plot.empty()) page.blank();
  for (const std::string& line : section.plot) {
    page.line({{std::string(kIndent, ' ') + line}});
  }
  if (!section.plot.empty() && !section.lines.empty()) page.blank();
  for (const std::string& line : section.lines) page.paragraph(kIndent, kIndent + 2, {{line}});
}

}  // namespace

bool write_text_document(const Document& document, const TextStyle& style,
                         const base::TextSink& sink) {
  Page page(style);
  for (const std::string& warning : document.warnings) {
    page.paragraph(0, kIndent, {{"NOT ALIKE: ", Ink::kWarn}, {sentence(warning)}});
  }
  if (!document.warnings.empty()) page.blank();
  page.paragraph(0, 0, {{document.headline, Ink::kStrong}});
  for (const std::string& reason : document.reasons) page.paragraph(0, 0, {{reason}});
  if (!document.head.empty()) page.blank();
  std::size_t label = 0;
  for (const auto& [name, text] : document.head) label = std::max(label, name.size() + 2);
  for (const auto& [name, text] : document.head) {
    page.labelled(kIndent, static_cast<int>(label), name, {{text}});
  }
  for (const Section& section : document.sections) {
    if (!section.empty()) write_section(page, section);
  }
  if (!document.code_title.empty()) {
    page.heading(document.code_title);
    page.code(kIndent + 2, kIndent, document.code);
  }
  if (!document.notes.empty()) page.heading("How sure this is");
  for (const std::string& note : document.notes) {
    page.paragraph(kIndent, kIndent + 2, {{sentence(note)}});
  }
  return sink(page.take());
}

bool write_markdown_document(const Document& document, const base::TextSink& sink) {
  std::string out = "## Pyrometer: " + markdown_text(document.title) + "\n\n";
  for (const std::string& warning : document.warnings) {
    out += "> **not alike**: " + markdown_text(sentence(warning)) + "\n\n";
  }
  out += "**" + markdown_text(document.headline) + "**\n\n";
  for (const std::string& reason : document.reasons) out += markdown_text(reason) + "\n\n";
  for (const auto& [name, text] : document.head) {
    out += "- " + name + ": " + markdown_text(text) + "\n";
  }
  if (!document.head.empty()) out += "\n";
  for (const Section& section : document.sections) {
    if (section.empty()) continue;
    out += "### " + markdown_text(section.title) + "\n" + markdown_section(section);
  }
  if (!document.code_title.empty()) {
    out +=
        "### " + markdown_text(document.code_title) + "\n\n" + markdown_code(document.code) + "\n";
  }
  if (!document.notes.empty()) {
    std::string notes = "\n";
    for (const std::string& note : document.notes) {
      notes += "- " + markdown_text(sentence(note)) + "\n";
    }
    out += markdown_folded("How sure this is", notes);
  }
  return sink(out);
}

}  // namespace pyrometer::output
