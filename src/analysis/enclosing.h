// Which recorded range a moment on a host thread lies in.
#pragma once

#include <algorithm>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::analysis {

// For each of `times` (ascending) the innermost row of `rows` that contains it and that
// `accept(row)` admits, kNone where there is none. Rows lie on one thread, sorted by (start, -end);
// a row contains its start but not its end. O(rows + times).
template <typename Table, typename Accept>
[[nodiscard]] std::vector<model::Index> innermost_rows(const Table& table, model::RowRange rows,
                                                       const std::vector<model::TimeNs>& times,
                                                       Accept accept) {
  std::vector<model::Index> found;
  found.reserve(times.size());
  std::vector<model::Index> open;
  model::Index next = rows.begin;
  for (const model::TimeNs time : times) {
    const auto drop_ended = [&](model::TimeNs now) {
      while (!open.empty() && table.end[open.back()] <= now) open.pop_back();
    };
    for (; next < rows.end && table.start[next] <= time; ++next) {
      if (table.end[next] <= time || !accept(next)) continue;
      drop_ended(table.start[next]);
      open.push_back(next);
    }
    drop_ended(time);
    found.push_back(open.empty() ? model::kNone : open.back());
  }
  return found;
}

}  // namespace pyrometer::analysis
