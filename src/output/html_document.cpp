#include "output/html_document.h"

#include "output/summary.h"
#include "output/xml_text.h"

namespace pyrometer::output {
namespace {

constexpr char kStyle[] =
    "body{font:15px/1.5 sans-serif;color:#1f2933;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:14px}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #cbd2d9;text-align:left}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}"
    "pre{background:#f5f7fa;padding:.8em;overflow:auto}dt{float:left;min-width:6em;color:#52606d}"
    "svg{max-width:100%;height:auto}.faint{color:#52606d}";

std::string element(std::string_view name, std::string_view text) {
  return "<" + std::string(name) + ">" + xml_text(text) + "</" + std::string(name) + ">\n";
}

std::string table_of(const Table& table) {
  std::string out = "<table>\n<tr>";
  const auto cell = [](std::string_view tag, const Column& column, std::string_view text) {
    return "<" + std::string(tag) + (column.align == Align::kRight ? " class=\"n\">" : ">") +
           xml_text(text) + "</" + std::string(tag) + ">";
  };
  for (const Column& column : table.columns) out += cell("th", column, column.title);
  out += "</tr>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += cell("td", table.columns[i], row[i]);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string section_of(const Section& section, bool has_image) {
  std::string out = element("h2", section.title);
  if (!section.note.empty()) out += "<p class=\"faint\">" + xml_text(section.note) + "</p>\n";
  if (!section.table.rows.empty()) out += table_of(section.table);
  if (!has_image && !section.plot.empty()) {
    out += "<pre>";
    for (const std::string& line : section.plot) out += xml_text(line) + "\n";
    out += "</pre>\n";
  }
  for (const std::string& line : section.lines) out += element("p", line);
  return out;
}

}  // namespace

bool write_html_document(const Document& document, const std::string& image,
                         const base::TextSink& sink) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n";
  out += element("title", "Pyrometer: " + document.title);
  out += "<style>" + std::string(kStyle) + "</style>\n";
  out += element("h1", document.headline);
  for (const std::string& warning : document.warnings) out += element("p", sentence(warning));
  for (const std::string& reason : document.reasons) out += element("p", reason);
  if (!document.head.empty()) out += "<dl>\n";
  for (const auto& [name, text] : document.head) out += element("dt", name) + element("dd", text);
  if (!document.head.empty()) out += "</dl>\n";
  out += image;
  for (const Section& section : document.sections) {
    if (!section.empty()) out += section_of(section, !image.empty());
  }
  if (!document.code_title.empty()) {
    out += element("h2", document.code_title) + "<pre>";
    std::string_view code = document.code;
    while (!code.empty()) {
      const std::size_t end = std::min(code.find('\n'), code.size());
      out += xml_text(code.substr(0, end)) + "\n";
      code.remove_prefix(std::min(end + 1, code.size()));
    }
    out += "</pre>\n";
  }
  if (!document.notes.empty()) out += element("h2", "How sure this is") + "<ul>\n";
  for (const std::string& note : document.notes) out += element("li", sentence(note));
  if (!document.notes.empty()) out += "</ul>\n";
  return sink(out + "</html>\n");
}

}  // namespace pyrometer::output
