#include "output/table.h"

#include <algorithm>
#include <numeric>

#include "output/display.h"

namespace pyrometer::output {
namespace {

// Below this a shortened text says too little; on the narrowest pages it has to do all the same.
constexpr int kNarrowest = 12;
constexpr int kHardlyAnything = 4;

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

// Takes columns from the widest of the cells that may shorten until the table fits, leaving names
// and other text at least so much. Returns whether it fits.
bool shrink(const Table& table, TableLayout& layout, int width, int name_width, int text_width) {
  int excess = total_width(layout.widths) - width;
  while (excess > 0) {
    int* widest = nullptr;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const Shorten shorten = table.columns[layout.columns[i]].shorten;
      const int least = shorten == Shorten::kSymbol ? name_width : text_width;
      if (shorten == Shorten::kNever || layout.widths[i] <= least) continue;
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
  int names = 0;
  for (std::size_t i = 0; i < natural.size(); ++i) {
    natural[i] = natural_width(table, i, unicode);
    kept.columns.push_back(i);
    if (table.columns[i].shorten == Shorten::kNever) continue;
    if (table.columns[i].shorten == Shorten::kSymbol) ++names;
    // No wider than the page: the rest of a huge name is not worth the time of shrinking it.
    natural[i] = std::min(natural[i], width);
  }
  // Names are what the table is about: they keep two fifths of the width among them for as long as
  // there are columns that may go instead.
  const int comfortable = std::max(kNarrowest, width * 2 / 5 / std::max(1, names));
  while (true) {
    kept.widths.clear();
    for (const std::size_t i : kept.columns) kept.widths.push_back(natural[i]);
    auto last = kept.columns.begin();
    for (auto at = last; at != kept.columns.end(); ++at) {
      if (table.columns[*at].rank >= table.columns[*last].rank) last = at;
    }
    const bool may_drop = last != kept.columns.end() && table.columns[*last].rank > 0;
    if (shrink(table, kept, width, may_drop ? comfortable : kNarrowest, kNarrowest)) return kept;
    if (!may_drop) {
      shrink(table, kept, width, kHardlyAnything, kHardlyAnything);
      return kept;
    }
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
