// Times, shares and speed-ups in words, for verdicts as for tables: what is said twice reads the
// same both times.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::base {

// Decimals that give a number three significant digits after rounding; 0 for large ones.
[[nodiscard]] int decimals_of_three_digits(double number);

// "5–7 ms" from two texts and a unit; one text where both are the same.
[[nodiscard]] std::string join_range(const std::string& low, const std::string& high,
                                     std::string_view unit);

// "5.6–7.0 ms" needs one unit for a whole column too: the unit that suits `typical_ns`, its size,
// and how many decimals give the typical value at least three significant digits.
struct DurationUnit {
  std::string_view name;  // "ms"
  double ns = 1;
  int decimals = 0;
  [[nodiscard]] std::string format(double value_ns) const;  // without the unit's name
};
[[nodiscard]] DurationUnit duration_unit(double typical_ns);

// "812 ns", "8.12 µs", "81.2 ms", "1.50 s", "21.0 min", "3.40 h".
[[nodiscard]] std::string format_duration(double ns);

// A range in one unit: "5.61–7.02 ms"; a single value when both read the same.
[[nodiscard]] std::string format_duration_range(double low_ns, double high_ns);

// A fraction as a percentage with one decimal: "87.0%".
[[nodiscard]] std::string format_percent(double fraction);

// A prediction: "0.43 ms" in the unit and with the decimals of its range.
[[nodiscard]] std::string format_expected(double mid_ns, double low_ns, double high_ns);

// How a step of `baseline_ns` compares to one of a range: "2.5× as fast (1.1–4.0×)".
[[nodiscard]] std::string format_speedup(double baseline_ns, double mid_ns, double low_ns,
                                         double high_ns);

}  // namespace pyrometer::base
