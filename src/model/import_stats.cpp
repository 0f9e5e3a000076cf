#include "model/import_stats.h"

#include <algorithm>

namespace pyrometer::model {

void ImportStats::add(std::string_view kind, StatSeverity severity, std::int64_t offset,
                      std::string_view help, std::int64_t count) {
  auto at = std::lower_bound(counters_.begin(), counters_.end(), kind,
                             [](const ImportCounter& c, std::string_view k) { return c.kind < k; });
  if (at == counters_.end() || at->kind != kind) {
    at = counters_.insert(at,
                          ImportCounter{std::string(kind), severity, 0, offset, std::string(help)});
  }
  at->count += count;
  if (offset >= 0 && (at->first_offset < 0 || offset < at->first_offset)) at->first_offset = offset;
}

void ImportStats::merge(const ImportStats& other) {
  for (const ImportCounter& c : other.counters_) {
    add(c.kind, c.severity, c.first_offset, c.help, c.count);
  }
}

bool ImportStats::lost_data() const {
  return std::any_of(counters_.begin(), counters_.end(), [](const ImportCounter& c) {
    return c.severity == StatSeverity::kDataLoss && c.count > 0;
  });
}

}  // namespace pyrometer::model
