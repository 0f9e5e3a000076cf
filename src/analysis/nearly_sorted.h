// Sorting of rows that are almost in order already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace pyrometer::analysis {

// Like std::sort. Insertion sort while rows are near their place, which is O(n) for launches and
// ends of a few interleaved streams; std::sort once that has cost more than it would.
template <typename T, typename Less>
void sort_nearly_sorted(std::vector<T>& rows, Less less) {
  std::size_t budget = 8 * rows.size();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!less(rows[i], rows[i - 1])) continue;
    T row = std::move(rows[i]);
    std::size_t at = i;
    while (at > 0 && less(row, rows[at - 1])) {
      rows[at] = std::move(rows[at - 1]);
      --at;
    }
    rows[at] = std::move(row);
    if (i - at > budget) {
      std::sort(rows.begin(), rows.end(), less);
      return;
    }
    budget -= i - at;
  }
}

}  // namespace pyrometer::analysis
