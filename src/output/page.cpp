#include "output/page.h"

#include <algorithm>
#include <array>
#include <utility>

#include "output/code_lines.h"
#include "output/display.h"

namespace pyrometer::output {
namespace {

constexpr int kWidestProse = 100;

std::string_view escape_of(Ink ink) {
  switch (ink) {
    case Ink::kStrong:
      return "\x1b[1m";
    case Ink::kFaint:
      return "\x1b[2m";
    case Ink::kBad:
      return "\x1b[1;31m";
    case Ink::kWarn:
      return "\x1b[33m";
    case Ink::kGood:
      return "\x1b[32m";
    case Ink::kInfo:
      return "\x1b[36m";
    case Ink::kPlain:
      break;
  }
  return {};
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

// Units that must not begin a line: their number stands before them.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 19> kUnits = {
      "ns",  "µs",  "us",   "ms", "s", "min", "h", "B",    "KiB", "MiB",
      "GiB", "TiB", "GB/s", "×",  "x", "°C",  "W", "GPUs", "GPU"};
  while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// An abbreviation ends a sentence with the full stop that it has.
std::string sentence_end(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

bool ends_with_digit(std::string_view word) {
  return !word.empty() && word.back() >= '0' && word.back() <= '9';
}

// Whether `word` stays on the line of the one before it: a unit after its number, a separator.
bool stays_with(std::string_view before, std::string_view word) {
  return word == "·" || word == "|" || (is_unit(word) && ends_with_digit(before));
}

// What must stay on one line: one word, or several that belong together.
using Chunk = std::vector<Span>;

int chunk_width(const Chunk& chunk) {
  int width = 0;
  for (const Span& span : chunk) width += display_width(span.text);
  return width;
}

// Breaks spans into chunks at spaces. Spans that touch without a space belong together. A word
// longer than `longest` columns is broken.
std::vector<Chunk> chunks_of(const std::vector<Span>& spans, bool unicode, int longest) {
  std::vector<Chunk> chunks;
  bool open = false;  // whether the next word continues the last chunk
  for (const Span& span : spans) {
    const std::string clean = printable(span.text, unicode);
    std::string_view rest = clean;
    while (!rest.empty()) {
      if (rest.front() == ' ') {
        open = false;
        rest.remove_prefix(1);
        continue;
      }
      const std::string_view word = front_part(rest.substr(0, rest.find(' ')), longest);
      rest.remove_prefix(word.size());
      const bool glued = !chunks.empty() && !open && stays_with(chunks.back().back().text, word) &&
                         chunk_width(chunks.back()) + 1 + display_width(word) <= longest;
      if (glued) {
        chunks.back().push_back({" " + std::string(word), span.ink});
      } else if (open && chunk_width(chunks.back()) + display_width(word) <= longest) {
        chunks.back().push_back({std::string(word), span.ink});
      } else {
        chunks.push_back({{std::string(word), span.ink}});
      }
      open = true;
    }
  }
  return chunks;
}

}  // namespace

Page::Page(const TextStyle& style)
    : width_(std::clamp(style.width, 40, 160)), color_(style.color), unicode_(style.unicode) {}

std::string Page::inked(std::string_view clean, Ink ink) const {
  const std::string_view escape = color_ ? escape_of(ink) : std::string_view{};
  if (escape.empty() || clean.empty()) return std::string(clean);
  return std::string(escape) + std::string(clean) + "\x1b[0m";
}

void Page::blank() { out_ += '\n'; }

void Page::heading(std::string_view text) {
  blank();
  paragraph(0, 0, {{std::string(text), Ink::kStrong}});
}

void Page::line(const std::vector<Span>& spans) {
  for (const Span& span : spans) out_ += inked(printable(span.text, unicode_), span.ink);
  while (out_.ends_with(' ')) out_.pop_back();
  out_ += '\n';
}

void Page::paragraph(int indent, int hang, const std::vector<Span>& spans) {
  const int limit = std::min(width_, kWidestProse);
  out_ += spaces(indent);
  int column = indent;
  std::vector<Span> row;  // the words of this line, runs of one ink together
  const auto flush = [&] {
    for (const Span& span : row) out_ += inked(span.text, span.ink);
    row.clear();
  };
  const auto append = [&](std::string_view text, Ink ink) {
    if (!row.empty() && row.back().ink == ink) {
      row.back().text += text;
    } else {
      row.push_back({std::string(text), ink});
    }
  };
  for (const Chunk& chunk : chunks_of(spans, unicode_, limit - std::max(indent, hang))) {
    const int width = chunk_width(chunk);
    if (!row.empty() && column + 1 + width > limit) {
      flush();
      out_ += '\n' + spaces(hang);
      column = hang;
    }
    if (!row.empty()) {
      append(" ", row.back().ink == chunk.front().ink ? chunk.front().ink : Ink::kPlain);
      ++column;
    }
    for (const Span& span : chunk) append(span.text, span.ink);
    column += width;
  }
  flush();
  out_ += '\n';
}

void Page::labelled(int indent, int label_width, std::string_view label,
                    const std::vector<Span>& text) {
  const std::string clean = printable(label, unicode_);
  out_ += spaces(indent) + inked(clean, Ink::kFaint);
  // The paragraph writes its own indent, from the beginning of the line.
  const int written = indent + display_width(clean);
  const int column = indent + label_width;
  out_ += spaces(column - written);
  Page beside(TextStyle{.color = color_, .unicode = unicode_, .width = width_});
  beside.paragraph(column, column, text);
  out_ += std::string_view(beside.out_).substr(static_cast<std::size_t>(column));
}

void Page::code(int indent, int least, std::string_view text) {
  std::string code(text);
  for (std::size_t tab = code.find('\t'); tab != std::string::npos; tab = code.find('\t')) {
    code.replace(tab, 1, "    ");
  }
  constexpr int kNoLimit = 1 << 20;
  std::vector<std::string> rows = fit_code(code, kNoLimit);
  const auto wide = [&](const std::string& row) { return indent + display_width(row) > width_; };
  if (std::any_of(rows.begin(), rows.end(), wide)) {
    indent = std::min(indent, least);
    rows = fit_code(code, width_ - indent);
  }
  for (const std::string& row : rows) line({{spaces(indent)}, {row, Ink::kInfo}});
}

void Page::table(int indent, const Table& table) {
  const TableLayout layout = lay_out(table, width_ - indent, unicode_);
  const auto put = [&](const auto& cell_of, Ink ink) {
    std::string row = spaces(indent);
    for (std::size_t k = 0; k < layout.columns.size(); ++k) {
      const Column& column = table.columns[layout.columns[k]];
      const std::string cell =
          fit_cell(cell_of(layout.columns[k]), column, layout.widths[k], unicode_);
      row += column.align == Align::kRight ? pad_left(cell, layout.widths[k])
                                           : pad_right(cell, layout.widths[k]);
      if (k + 1 < layout.columns.size()) row += spaces(kColumnGap);
    }
    while (row.ends_with(' ')) row.pop_back();
    line({{row, ink}});
  };
  put([&](std::size_t i) { return table.columns[i].title; }, Ink::kFaint);
  for (const std::vector<std::string>& cells : table.rows) {
    put([&](std::size_t i) { return cells[i]; }, Ink::kPlain);
  }
  std::string left_out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool kept =
        std::find(layout.columns.begin(), layout.columns.end(), i) != layout.columns.end();
    if (kept || table.columns[i].title.empty()) continue;
    left_out += (left_out.empty() ? "" : ", ") + table.columns[i].title;
  }
  if (left_out.empty()) return;
  paragraph(indent, indent,
            {{"No room at this width for: " + sentence_end(left_out), Ink::kFaint}});
}

}  // namespace pyrometer::output
