// Quantiles and intervals that several stages judge differences by.
#pragma once

#include <cstddef>
#include <span>

namespace pyrometer::analysis {

// The value that a standard normal variable stays below with `probability`, in (0, 1).
[[nodiscard]] double normal_quantile(double probability);

// The same of Student's t with `degrees` of freedom, > 0; need not be whole (Welch). Exact to 1e-9.
[[nodiscard]] double student_t_quantile(double probability, double degrees);

// A value with the interval that holds it; all three in the unit of the values.
struct Middle {
  double value = 0, low = 0, high = 0;
};

// Hodges–Lehmann estimate of the middle of a symmetric distribution with the 95% interval of the
// signed-rank test, normal approximation (M. Hollander, D. A. Wolfe: Nonparametric Statistical
// Methods, chapter 3); with fewer than six values, mean and Student's t. `widen`: the interval's
// distance from the value times this, for values that are correlated. O(n² log n).
[[nodiscard]] Middle robust_middle(std::span<const double> values, double widen = 1);

}  // namespace pyrometer::analysis
