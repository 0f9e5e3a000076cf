#include "output/markdown.h"

#include <algorithm>

#include "output/display.h"

namespace pyrometer::output {
namespace {

constexpr int kNameWidth = 72;  // of names in tables

}  // namespace

// Text with everything that Markdown or HTML would act on taken literally. Names in a trace must
// not be able to make links, mentions or markup.
std::string markdown_text(std::string_view text) {
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
std::string markdown_name(std::string_view text) {
  std::string out = "`";
  for (const char c : printable(text, true)) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : c;
  }
  return out + "`";
}

// A code block whose fence is longer than any run of backticks in it.
std::string markdown_code(std::string_view code) {
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

std::string markdown_table(const Table& table) {
  std::string out = "|";
  for (const Column& column : table.columns) out += " " + markdown_text(column.title) + " |";
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
      out += " " + (is_name ? markdown_name(cell) : markdown_text(cell)) + " |";
    }
    out += "\n";
  }
  return out;
}

std::string markdown_section(const Section& section) {
  std::string out = "\n";
  if (!section.note.empty()) out += markdown_text(section.note) + "\n\n";
  if (!section.table.rows.empty()) out += markdown_table(section.table) + "\n";
  if (!section.plot.empty()) {
    out += "```\n";
    for (const std::string& line : section.plot) out += line + "\n";
    out += "```\n\n";
  }
  for (const std::string& line : section.lines) out += markdown_text(line) + "\n\n";
  return out;
}

std::string markdown_folded(const std::string& title, const std::string& content) {
  return "<details><summary>" + markdown_text(title) + "</summary>\n" + content +
         "\n</details>\n\n";
}

}  // namespace pyrometer::output
