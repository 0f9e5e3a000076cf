#include "output/table.h"

#include <algorithm>
#include <numeric>

#include "output/display.h"

namespace pyrometer::output {
namespace {

constexpr int kNarrowest = 16;

int natural_width(const Table& table, std::size_t column, bool unicode) {
  int width = display_width(printable(table.columns[column].title, unicode));
  for (const std::vector<std::string>& row : table.rows) {
    width = std::max(width, display_width(printable(row[column], unicode)));
  }
  return width;
}

int total_width(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0) +
         kColumnGap * std::max(0, static_cast<int>(widths.size()) - 1);
}

// Takes columns from the widest of the shortenable cells until the table fits. Returns whether it
// does.
bool shrink(const Table& table, TableLayout& layout, int width) {
  int excess = total_width(layout.widths) - width;
  while (excess > 0) {
    int* widest = nullptr;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      if (table.columns[layout.columns[i]].shorten == Shorten::kNever) continue;
      if (layout.widths[i] <= kNarrowest) continue;
      if (widest == nullptr || layout.widths[i] > *widest) widest = &layout.widths[i];
    }
    if (widest == nullptr) return false;
    --*widest;
    --excess;
  }
  return true;
}

}  // namespace

TableLayout lay_out(const Table& table, int width, bool unicode) {
  std::vector<int> natural(table.columns.size());
  TableLayout kept;
  for (std::size_t i = 0; i < natural.size(); ++i) {
    natural[i] = natural_width(table, i, unicode);
    // No wider than the page: the rest of a huge name is not worth the time of shrinking it.
    natural[i] =
        table.columns[i].shorten == Shorten::kNever ? natural[i] : std::min(natural[i], width);
    kept.columns.push_back(i);
  }
  while (true) {
    kept.widths.clear();
    for (const std::size_t i : kept.columns) kept.widths.push_back(natural[i]);
    if (shrink(table, kept, width)) return kept;
    auto last = kept.columns.begin();
    for (auto at = last; at != kept.columns.end(); ++at) {
      if (table.columns[*at].rank >= table.columns[*last].rank) last = at;
    }
    if (last == kept.columns.end() || table.columns[*last].rank == 0) return kept;
    kept.columns.erase(last);
  }
}

std::string fit_cell(const std::string& cell, const Column& column, int width, bool unicode) {
  switch (column.shorten) {
    case Shorten::kMiddle:
      return shorten_middle(cell, width, unicode);
    case Shorten::kSymbol:
      return shorten_symbol(cell, width, unicode);
    case Shorten::kNever:
      break;
  }
  return printable(cell, unicode);
}

}  // namespace pyrometer::output
