#include "analysis/confidence.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace pyrometer::analysis {
namespace {

constexpr std::size_t kFewestForRanks = 6;  // fewer cannot give an interval of 95%

// Continued fraction of the incomplete beta function, by Lentz's method (Abramowitz, Stegun:
// Handbook of Mathematical Functions, 26.5.8).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 500;
  const auto kept_off_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / kept_off_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / kept_off_zero(1 + term * d);
      c = kept_off_zero(1 + term / c);
      change = d * c;
      result *= change;
    }
    if (std::abs(change - 1) < 1e-15) break;
  }
  return result;
}

// Regularised incomplete beta function.
double beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side only.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// Of a distribution around 0, where `below` gives the probability of less than x, x > 0.
template <typename Below>
double quantile(double probability, Below below) {
  if (probability == 0.5) return 0;
  const double target = std::max(probability, 1 - probability);
  double high = 1;
  while (below(high) < target && high < 1e12) high *= 2;
  double low = 0;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (below(middle) < target ? low : high) = middle;
  }
  const double found = (low + high) / 2;
  return probability < 0.5 ? -found : found;
}

}  // namespace

double normal_quantile(double probability) {
  return quantile(probability, [](double x) { return 1 - std::erfc(x / std::numbers::sqrt2) / 2; });
}

double student_t_quantile(double probability, double degrees) {
  constexpr double kAsNormal = 1e7;
  if (degrees > kAsNormal) return normal_quantile(probability);
  return quantile(probability, [degrees](double t) {
    return 1 - beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
  });
}

Middle robust_middle(std::span<const double> values, double widen) {
  constexpr double kUpper = 0.975;
  const std::size_t count = values.size();
  const auto n = static_cast<double>(count);
  if (count < kFewestForRanks) {
    double mean = 0;
    for (const double value : values) mean += value / n;
    double square = 0;
    for (const double value : values) square += (value - mean) * (value - mean);
    const double error =
        count < 2 ? 0 : widen * std::sqrt(square / (n - 1) / n) * student_t_quantile(kUpper, n - 1);
    return {.value = mean, .low = mean - error, .high = mean + error};
  }
  std::vector<double> means;
  means.reserve(count * (count + 1) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i; j < count; ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  const std::size_t last = means.size() - 1;
  const double spread = normal_quantile(kUpper) * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const double rank = std::max(0.0, std::floor(static_cast<double>(means.size()) / 2 - spread));
  const auto k = static_cast<std::size_t>(rank);
  const double value = (means[last / 2] + means[means.size() / 2]) / 2;
  return {.value = value,
          .low = value - widen * (value - means[k]),
          .high = value + widen * (means[last - k] - value)};
}

}  // namespace pyrometer::analysis
