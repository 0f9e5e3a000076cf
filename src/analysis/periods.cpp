#include "analysis/periods.h"

namespace pyrometer::analysis {

std::size_t even_spacing(const std::vector<std::size_t>& positions, std::size_t size) {
  if (positions.size() < 2) return 0;
  const std::size_t distance = positions[1] - positions[0];
  for (std::size_t i = 2; i < positions.size(); ++i) {
    if (positions[i] - positions[i - 1] != distance) return 0;
  }
  if (positions.front() >= distance || size - 1 - positions.back() >= distance) return 0;
  return distance;
}

}  // namespace pyrometer::analysis
