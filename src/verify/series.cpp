#include "verify/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics.h"

namespace pyrometer::verify {
namespace {

void join(StepRow& into, const StepRow& next) {
  into.length += next.length;
  into.count += next.count;
  into.samples = into.samples < 0 || next.samples < 0 ? -1 : into.samples + next.samples;
  into.input_wait += next.input_wait;
  for (std::size_t i = 0; i < into.causes.size(); ++i) into.causes[i] += next.causes[i];
}

}  // namespace

Series thinned(const Series& series, std::size_t most) {
  if (series.size() <= most) return series;
  std::int64_t steps = 0;
  for (const StepRow& row : series) steps += row.count;
  const std::int64_t per_row =
      (steps + static_cast<std::int64_t>(most) - 1) / static_cast<std::int64_t>(most);
  Series out;
  for (const StepRow& row : series) {
    // A row without a waterfall joined to one that has it would be neither.
    if (out.empty() || out.back().count + row.count > per_row ||
        out.back().watched != row.watched) {
      out.push_back(row);
    } else {
      join(out.back(), row);
    }
  }
  return out;
}

double mean_step(const Series& series) {
  double time = 0;
  double steps = 0;
  for (const StepRow& row : series) {
    time += static_cast<double>(row.length);
    steps += static_cast<double>(row.count);
  }
  return steps > 0 ? time / steps : 0;
}

double correlation_length(std::span<const double> values) {
  constexpr std::size_t kFewest = 8;
  constexpr double kWindow = 5;
  const std::size_t n = values.size();
  if (n < kFewest) return 1;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  const auto covariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < n; ++i) sum += (values[i] - mean) * (values[i + lag] - mean);
    return sum / static_cast<double>(n);
  };
  const double variance = covariance(0);
  if (!(variance > 0)) return 1;
  double length = 1;
  for (std::size_t lag = 1; lag < n / 2; ++lag) {
    length += 2 * covariance(lag) / variance;
    if (static_cast<double>(lag) >= kWindow * length) break;
  }
  return std::max(1.0, length);
}

WarmUp find_warm_up(const Series& series) {
  constexpr std::size_t kFewest = 4;
  constexpr std::size_t kMostRows = 1000;
  const std::size_t n = series.size();
  if (n < 2) return {.rows = 0, .over = false};
  if (n < kFewest) return {.rows = 1, .over = true};
  std::vector<double> logs;
  logs.reserve(n);
  for (const StepRow& row : series) {
    logs.push_back(std::log(static_cast<double>(std::max<model::DurationNs>(row.length, 1)) /
                            static_cast<double>(std::max<std::int64_t>(row.count, 1))));
  }
  // Pauses are part of the run, wherever they are: what sticks out of its surroundings of the
  // second half by far is cut down.
  const std::vector<double> settled(logs.begin() + static_cast<std::ptrdiff_t>(n / 2), logs.end());
  const double middle = analysis::median(settled);
  const double deviation = std::max(analysis::median_deviation(settled), 1e-3);
  constexpr double kFar = 6;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const bool alone = logs[i] > middle + kFar * deviation &&
                       logs[i - 1] < logs[i] - kFar * deviation &&
                       logs[i + 1] < middle + kFar * deviation;
    if (alone) logs[i] = std::min(logs[i - 1], middle + kFar * deviation);
  }
  // Sums from the back give the variance of every remainder in one pass.
  const std::size_t stride = (n + kMostRows - 1) / kMostRows;
  std::vector<double> cost(n, 0);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = n; i-- > 0;) {
    const double x = logs[i] - middle;
    sum += x;
    squares += x * x;
    const auto count = static_cast<double>(n - i);
    cost[i] = (squares - sum * sum / count) / (count * count);
  }
  std::size_t best = 1;
  // The last rows alone always look steady.
  const std::size_t last = n - std::max<std::size_t>(2, n / 5);
  for (std::size_t i = 1; i <= last; i += stride) {
    if (cost[i] < cost[best]) best = i;
  }
  const std::size_t half = n / 2;
  // With few rows the optimum wanders by chance: that says nothing about the warm-up.
  constexpr std::size_t kFewRows = 12;
  if (best > half && n < kFewRows) best = 1;
  return {.rows = std::min(best, half), .over = best <= half};
}

}  // namespace pyrometer::verify
