#include "cost/csv_table.h"

#include <algorithm>
#include <utility>

namespace pyrometer::cost {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes cells off the front of a text, one record at a time; a record in quotes may span lines.
class Records {
 public:
  explicit Records(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool open_quote() const { return open_quote_; }

  CsvRow next() {
    CsvRow row{.line = line_, .cells = {}};
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    if (const std::string_view text = trimmed(line); text.empty() || text.front() == '#') {
      drop(std::min(line.size() + 1, rest_.size()));
      return row;
    }
    bool more = true;
    while (more) row.cells.push_back(cell(more));
    return row;
  }

 private:
  std::string cell(bool& more) {
    const std::size_t blanks = rest_.find_first_not_of(" \t");
    if (blanks != std::string_view::npos && rest_[blanks] == '"') {
      drop(blanks + 1);
      return quoted(more);
    }
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    std::string text(trimmed(rest_.substr(0, end)));
    finish(end, more);
    return text;
  }

  std::string quoted(bool& more) {
    std::string text;
    while (!rest_.empty()) {
      const std::size_t quote = std::min(rest_.find('"'), rest_.size());
      text += rest_.substr(0, quote);
      const bool doubled = quote + 1 < rest_.size() && rest_[quote + 1] == '"';
      if (quote == rest_.size()) break;
      drop(doubled ? quote + 2 : quote + 1);
      if (!doubled) {
        finish(std::min(rest_.find_first_of(",\n"), rest_.size()), more);
        return text;
      }
      text += '"';
    }
    open_quote_ = true;
    drop(rest_.size());
    more = false;
    return text;
  }

  // Goes past the comma or the end of the line at `end`.
  void finish(std::size_t end, bool& more) {
    more = end < rest_.size() && rest_[end] == ',';
    drop(std::min(end + 1, rest_.size()));
  }

  void drop(std::size_t count) {
    line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n');
    rest_.remove_prefix(count);
  }

  std::string_view rest_;
  std::int64_t line_ = 1;
  bool open_quote_ = false;
};

base::Error wrong(const std::string& path, std::int64_t line, std::string message) {
  return {.kind = base::ErrorKind::kUsage,
          .message = std::move(message),
          .file = path + ":" + std::to_string(line)};
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  const auto at = std::find(header.begin(), header.end(), name);
  return at == header.end() ? -1 : static_cast<int>(at - header.begin());
}

base::Result<CsvTable> parse_csv(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CsvTable table;
  Records records(text);
  while (!records.at_end()) {
    CsvRow row = records.next();
    if (records.open_quote()) return base::fail(wrong(path, row.line, "a quote does not end"));
    if (row.cells.empty()) continue;
    if (table.header.empty()) {
      table.header = std::move(row.cells);
      table.header_line = row.line;
      continue;
    }
    if (row.cells.size() != table.header.size()) {
      return base::fail(wrong(path, row.line,
                              "has " + std::to_string(row.cells.size()) +
                                  " cells where the header" + " has " +
                                  std::to_string(table.header.size())));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.header.empty()) return base::fail(wrong(path, 1, "holds no header"));
  return table;
}

}  // namespace pyrometer::cost
