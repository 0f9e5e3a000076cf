// Sorting of struct-of-arrays tables: find the order once, then move each column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "model/types.h"

namespace pyrometer::model {

// Sorts `order` by start[order[i]], stable. LSD radix sort over the bytes that differ; O(n).
void radix_sort_by_time(std::vector<Index>& order, const std::vector<TimeNs>& start);

// The order that sorts rows by (group, start, less); `group` may be empty (one group). `less(a, b)`
// breaks ties between rows of equal group and start; it compares the content of rows, never their
// position, so that the result does not depend on the order of the input. Empty result: the rows
// are in order already.
template <typename Less>
[[nodiscard]] std::vector<Index> sorted_order(const std::vector<TimeNs>& start,
                                              const std::vector<std::uint16_t>& group, Less less) {
  const auto n = static_cast<Index>(start.size());
  const auto group_of = [&](Index i) { return group.empty() ? std::uint16_t{0} : group[i]; };
  const auto before = [&](Index a, Index b) {
    if (group_of(a) != group_of(b)) return group_of(a) < group_of(b);
    if (start[a] != start[b]) return start[a] < start[b];
    return less(a, b);
  };
  bool in_order = true;
  for (Index i = 1; i < n && in_order; ++i) in_order = !before(i, i - 1);
  if (in_order) return {};

  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  radix_sort_by_time(order, start);
  if (!group.empty()) {  // counting sort keeps the order within each group
    std::vector<Index> place(65537, 0);
    for (const std::uint16_t g : group) ++place[g + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Index> grouped(n);
    for (const Index i : order) grouped[place[group[i]]++] = i;
    order = std::move(grouped);
  }
  for (Index i = 0; i < n;) {
    Index j = i + 1;
    while (j < n && start[order[j]] == start[order[i]] && group_of(order[j]) == group_of(order[i]))
      ++j;
    if (j - i > 1) std::sort(order.begin() + i, order.begin() + j, less);
    i = j;
  }
  return order;
}

// Moves columns into `order` (new row i = old row order[i]); an empty order leaves them.
template <typename... Columns>
void apply_order(const std::vector<Index>& order, Columns&... columns) {
  if (order.empty()) return;
  const auto move_one = [&](auto& column) {
    std::remove_reference_t<decltype(column)> moved;
    moved.reserve(order.size());
    for (const Index i : order) moved.push_back(column[i]);
    column = std::move(moved);
  };
  (move_one(columns), ...);
}

}  // namespace pyrometer::model
