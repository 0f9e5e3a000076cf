// Tables of comma-separated values, as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pyrometer::cost {

struct CsvRow {
  std::int64_t line = 0;  // in the file, from 1
  std::vector<std::string> cells;
};

struct CsvTable {
  std::vector<std::string> header;
  std::int64_t header_line = 0;
  std::vector<CsvRow> rows;  // each has as many cells as the header

  // Position of a column; -1 without one.
  [[nodiscard]] int column(std::string_view name) const;
};

// Empty lines, and lines that begin with '#', are left out. Cells may be in quotes; blanks around a
// cell do not count. An error is of kind kUsage and names file and line: a row with more or fewer
// cells than the header, a quote that does not end, or no header at all.
[[nodiscard]] base::Result<CsvTable> parse_csv(std::string_view text, const std::string& path);

}  // namespace pyrometer::cost
