// A table without a look: built once, shown on a terminal or in Markdown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pyrometer::output {

enum class Align : std::uint8_t { kLeft, kRight };

// How a cell gives way where room is short.
enum class Shorten : std::uint8_t {
  kNever,   // numbers
  kMiddle,  // text
  kSymbol,  // names of kernels and operators
};

struct Column {
  std::string title;
  Align align = Align::kRight;
  Shorten shorten = Shorten::kNever;
  int rank = 0;  // the column of the highest rank goes first where room is short; 0 always stays
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
};

// A table laid out for a width: the columns that stay and their widths.
struct TableLayout {
  std::vector<std::size_t> columns;  // positions in Table::columns
  std::vector<int> widths;           // of the kept columns; cells may have to be shortened to it
};

inline constexpr int kColumnGap = 2;

// Cells and titles are measured as printable() shows them. Where room is short, cells that may
// shorten give way to two fifths of the width among them, then columns go by rank, then cells give
// way further. What still does not fit is wider than `width`.
[[nodiscard]] TableLayout lay_out(const Table& table, int width, bool unicode);

// A cell as it is shown in `width` columns, not padded.
[[nodiscard]] std::string fit_cell(const std::string& cell, const Column& column, int width,
                                   bool unicode);

}  // namespace pyrometer::output
