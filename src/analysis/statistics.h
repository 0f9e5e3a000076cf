// Robust statistics over durations and counts.
#pragma once

#include <span>
#include <vector>

#include "model/kernels.h"
#include "model/types.h"

namespace pyrometer::analysis {

// The smallest value that is no less than `percent` (1–100) of the values: nearest rank, exact; 0
// for none. Reorders `values`. O(n).
[[nodiscard]] model::DurationNs percentile(std::span<model::DurationNs> values,
                                           std::size_t percent);

// Count, total, mean (rounded down), p50, p95 and max. Reorders `values`.
[[nodiscard]] model::DurationStats summarise(std::span<model::DurationNs> values);

// Middle value, the mean of the middle two for even counts; 0 for none.
[[nodiscard]] double median(std::vector<double> values);

// Median distance from the median.
[[nodiscard]] double median_deviation(const std::vector<double>& values);

// Theil–Sen slope: the median of the slopes between all pairs, per position. Robust against up to
// 29% of outliers. Long series are thinned to 512 points first. 0 for fewer than two values.
[[nodiscard]] double robust_slope(std::span<const double> values);

}  // namespace pyrometer::analysis
