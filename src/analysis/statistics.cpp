#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pyrometer::analysis {

model::DurationNs percentile(std::span<model::DurationNs> values, std::size_t percent) {
  if (values.empty()) return 0;
  const std::size_t rank = (values.size() * percent + 99) / 100;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

model::DurationStats summarise(std::span<model::DurationNs> values) {
  model::DurationStats stats;
  if (values.empty()) return stats;
  stats.count = static_cast<std::int64_t>(values.size());
  stats.total = std::accumulate(values.begin(), values.end(), model::DurationNs{0});
  stats.mean = stats.total / stats.count;
  stats.max = *std::max_element(values.begin(), values.end());
  stats.p50 = percentile(values, 50);
  stats.p95 = percentile(values, 95);
  return stats;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_deviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(std::move(distances));
}

double robust_slope(std::span<const double> values) {
  constexpr std::size_t kMaxPoints = 512;
  const std::size_t stride = (values.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    for (std::size_t j = i + stride; j < values.size(); j += stride) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median(std::move(slopes));
}

}  // namespace pyrometer::analysis
