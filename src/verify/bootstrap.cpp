#include "verify/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/confidence.h"
#include "verify/random.h"

namespace pyrometer::verify {
namespace {

constexpr std::size_t kResamplings = 1000;
constexpr std::size_t kMostRows = 400;  // of a series: more cost time and tell nothing new
constexpr double kFewestBlocks = 4;     // from fewer, no spread can be known

struct Blocks {
  std::vector<Quotient> rows;
  std::size_t length = 1;
};

std::vector<Quotient> rows_of(const Series& series, const QuotientOf& quotient) {
  std::vector<Quotient> rows;
  for (const StepRow& row : thinned(series, kMostRows)) rows.push_back(quotient(row));
  return rows;
}

Blocks blocks_of(const std::vector<Quotient>& rows) {
  Blocks out;
  std::vector<double> figures;
  for (const Quotient& q : rows) {
    if (q.bottom <= 0) continue;
    out.rows.push_back(q);
    figures.push_back(q.top / q.bottom);
  }
  // Blocks break what connects their ends: several times the correlation keeps most of it, and a
  // short series makes its correlation look smaller than it is.
  constexpr double kCorrelated = 1.3;
  const double correlated = correlation_length(figures);
  const double wanted = correlated < kCorrelated ? 1 : 4 * correlated;
  const auto most = std::max<std::size_t>(1, out.rows.size() / 5);
  out.length = std::min(most, static_cast<std::size_t>(std::ceil(wanted)));
  return out;
}

double quantile_of_sorted(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = place - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

// Percentile interval of replicates around `value`. The replicates cannot show tails beyond their
// number, so the widening moves the ends instead of looking for rarer quantiles.
Interval widened(double value, std::vector<double> replicates, double level, double pieces) {
  Interval out{.value = value};
  if (replicates.empty() || pieces < 2) return out;
  std::sort(replicates.begin(), replicates.end());
  constexpr double kShown = 0.95;
  const double normal = analysis::normal_quantile((1 + kShown) / 2);
  const double wanted = analysis::student_t_quantile((1 + level) / 2, pieces - 1);
  // A resampled mean scatters less than a real one by the root of (n−1)/n.
  const double factor = wanted / normal * std::sqrt(pieces / (pieces - 1));
  const double low = quantile_of_sorted(replicates, (1 - kShown) / 2);
  const double high = quantile_of_sorted(replicates, (1 + kShown) / 2);
  out.low = value - factor * std::max(0.0, value - low);
  out.high = value + factor * std::max(0.0, high - value);
  out.known = std::isfinite(out.low) && std::isfinite(out.high);
  return out;
}

// See Replicates::drift.
double drift_of(const std::vector<Blocks>& all, const Replicates& replicates) {
  Quotient halves[2];
  for (const Blocks& blocks : all) {
    for (std::size_t i = 0; i < blocks.rows.size(); ++i) {
      Quotient& half = halves[2 * i < blocks.rows.size() ? 0 : 1];
      half.top += blocks.rows[i].top;
      half.bottom += blocks.rows[i].bottom;
    }
  }
  if (halves[0].bottom <= 0 || halves[1].bottom <= 0) return 0;
  double square = 0;
  for (const double value : replicates.values) {
    square += (value - replicates.value) * (value - replicates.value);
  }
  const double error = std::sqrt(square / static_cast<double>(replicates.values.size()));
  const double difference = halves[1].top / halves[1].bottom - halves[0].top / halves[0].bottom;
  // Runs that start alike and drift apart differ by more than their halves do, as the front of each
  // was left out as warm-up: with a third left out, by twice as much.
  constexpr double kFromTheStart = 2;
  return kFromTheStart * std::max(0.0, std::abs(difference) - error);
}

Interval wider(Interval interval, double by) {
  interval.low -= by;
  interval.high += by;
  return interval;
}

template <typename Combine>
Interval combined(const Replicates& a, const Replicates& b, double value, double level,
                  Combine combine) {
  std::vector<double> both;
  if (!a.values.empty() && !b.values.empty()) {
    for (std::size_t i = 0; i < kResamplings; ++i) {
      both.push_back(combine(a.values[i], b.values[i]));
    }
  }
  return widened(value, std::move(both), level, std::min(a.blocks, b.blocks));
}

double trimmed_mean(std::vector<double>& values) {
  const std::size_t cut = values.size() / 10;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(cut);
  std::nth_element(values.begin(), first, values.end());
  std::nth_element(first, last - 1, values.end());
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

// By how much intervals must be wider because neighbours resemble each other.
double neighbour_widening(std::span<const double> values, double mean) {
  constexpr std::size_t kFewest = 4;
  if (values.size() < kFewest) return 1;
  double square = 0;
  double lagged = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - mean) * (values[i] - mean);
    if (i > 0) lagged += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (!(square > 0)) return 1;
  constexpr double kLargest = 0.8;
  const double correlation = std::clamp(lagged / square, 0.0, kLargest);
  return std::sqrt((1 + correlation) / (1 - correlation));
}

}  // namespace

Replicates resample(std::span<const Series> series, const QuotientOf& quotient,
                    std::uint64_t seed) {
  std::vector<std::vector<Quotient>> rows;
  for (const Series& one : series) rows.push_back(rows_of(one, quotient));
  return resample_rows(rows, seed);
}

Replicates resample_rows(std::span<const std::vector<Quotient>> series, std::uint64_t seed) {
  Replicates out;
  std::vector<Blocks> all;
  Quotient sum;
  double fewest = 0;
  for (const std::vector<Quotient>& one : series) {
    Blocks blocks = blocks_of(one);
    if (blocks.rows.empty()) continue;
    for (const Quotient& q : blocks.rows) {
      sum.top += q.top;
      sum.bottom += q.bottom;
    }
    const double pieces =
        static_cast<double>(blocks.rows.size()) / static_cast<double>(blocks.length);
    // Ranks of one job wait for each other: together they know no more than one of them.
    fewest = all.empty() ? pieces : std::min(fewest, pieces);
    all.push_back(std::move(blocks));
  }
  if (all.empty()) return out;
  out.value = sum.top / sum.bottom;
  out.blocks = fewest;
  if (out.blocks < kFewestBlocks) return out;
  Random random(seed);
  out.values.reserve(kResamplings);
  for (std::size_t i = 0; i < kResamplings; ++i) {
    Quotient total;
    for (const Blocks& blocks : all) {
      const std::size_t rows = blocks.rows.size();
      for (std::size_t taken = 0; taken < rows;) {
        const std::size_t start = random.below(rows - blocks.length + 1);
        for (std::size_t k = 0; k < blocks.length && taken < rows; ++k, ++taken) {
          total.top += blocks.rows[start + k].top;
          total.bottom += blocks.rows[start + k].bottom;
        }
      }
    }
    out.values.push_back(total.top / total.bottom);
  }
  out.drift = drift_of(all, out);
  return out;
}

Interval interval_of(const Replicates& replicates, double level) {
  return widened(replicates.value, replicates.values, level, replicates.blocks);
}

Interval ratio_interval(const Replicates& a, const Replicates& b, double level) {
  if (!(a.value > 0)) return {};
  const double ratio = b.value / a.value;
  return wider(combined(a, b, ratio, level, [](double x, double y) { return y / x; }),
               ratio * a.drift / a.value + b.drift / a.value);
}

Interval difference_interval(const Replicates& a, const Replicates& b, double level) {
  return wider(combined(a, b, b.value - a.value, level, [](double x, double y) { return y - x; }),
               a.drift + b.drift);
}

Interval mean_interval(std::span<const double> values, double level, std::uint64_t seed) {
  constexpr std::size_t kFewestToResample = 10;
  constexpr std::size_t kTimes = 1000;
  Interval out;
  const std::size_t count = values.size();
  if (count == 0) return out;
  const auto n = static_cast<double>(count);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  out.value = mean;
  if (count < 2) return out;
  const double widen = neighbour_widening(values, mean);
  if (count < kFewestToResample) {
    double square = 0;
    for (const double value : values) square += (value - mean) * (value - mean);
    const double error = widen * std::sqrt(square / (n - 1) / n) *
                         analysis::student_t_quantile((1 + level) / 2, n - 1);
    return {.value = mean, .low = mean - error, .high = mean + error, .known = true};
  }
  std::vector<double> all(values.begin(), values.end());
  const double value = trimmed_mean(all);
  Random random(seed);
  std::vector<double> replicates;
  std::vector<double> drawn(count);
  for (std::size_t i = 0; i < kTimes; ++i) {
    for (double& one : drawn) one = values[random.below(count)];
    replicates.push_back(trimmed_mean(drawn));
  }
  out = widened(value, std::move(replicates), level, n);
  out.low = value - widen * (value - out.low);
  out.high = value + widen * (out.high - value);
  return out;
}

}  // namespace pyrometer::verify
