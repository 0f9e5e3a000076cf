// Intervals of means and of their ratios over the steps of runs, by resampling blocks of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "verify/series.h"

namespace pyrometer::verify {

// A figure with its interval. Without one (too few steps or runs) `known` is false, and `low` and
// `high` mean nothing.
struct Interval {
  double value = 0;
  double low = 0, high = 0;
  bool known = false;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sums of a row whose quotient over many rows is the figure: {ns of a cause, steps}.
struct Quotient {
  double top = 0, bottom = 0;
};
using QuotientOf = std::function<Quotient(const StepRow&)>;

// What a bootstrap found: the figure and one replicate per resampling.
struct Replicates {
  double value = 0;
  std::vector<double> values;  // empty: too few rows
  double blocks = 0;           // independent pieces that the rows amount to
  // Twice of what the second half differs from the first by more than the mean's error; >= 0. What
  // changes by so much in the course of one run may differ by so much between two
  // (docs/results/2026-12-01-aa.md).
  double drift = 0;
};

// Moving blocks (H. Künsch: The jackknife and the bootstrap for general stationary observations,
// 1989) as long as the rows are correlated, within each of the series (ranks), 1000 times. The
// seed decides: the same input gives the same replicates.
[[nodiscard]] Replicates resample(std::span<const Series> series, const QuotientOf& quotient,
                                  std::uint64_t seed);

// The same of rows that are quotients already, at most a few hundred in each series.
[[nodiscard]] Replicates resample_rows(std::span<const std::vector<Quotient>> series,
                                       std::uint64_t seed);

// The percentile interval, widened as Student's t is wider than the normal for so many blocks
// (T. Hesterberg: What Teachers Should Know About the Bootstrap, 2015, section 4.3: without that,
// intervals from few values are too narrow). `level`: e.g. 0.95.
[[nodiscard]] Interval interval_of(const Replicates& replicates, double level = 0.95);

// Of b/a, and of b−a, where the two were resampled independently; wider by the drift of both.
[[nodiscard]] Interval ratio_interval(const Replicates& a, const Replicates& b,
                                      double level = 0.95);
[[nodiscard]] Interval difference_interval(const Replicates& a, const Replicates& b,
                                           double level = 0.95);

// The mean of independent values, e.g. log ratios of pairs. Below ten values by Student's t; from
// ten on, the mean without a tenth at each end, resampled 1000 times. Values that follow each other
// and resemble each other widen it. Not known for fewer than two values.
[[nodiscard]] Interval mean_interval(std::span<const double> values, double level = 0.95,
                                     std::uint64_t seed = 1);

}  // namespace pyrometer::verify
