#include "output/change_words.h"

#include <fmt/format.h>

#include <cmath>

namespace pyrometer::output {
namespace {

// Without the sign that rounding leaves at a zero.
std::string signed_text(double value, int decimals) {
  const std::string text = fmt::format("{:+.{}f}", value, decimals);
  return text.find_first_of("123456789") == text.npos ? text.substr(1) : text;
}

int percent_decimals(double percent) {
  constexpr double kLarge = 100;
  return std::abs(percent) >= kLarge ? 0 : 1;
}

constexpr double kPercent = 100;

}  // namespace

std::string format_signed(double ns, const DurationUnit& unit) {
  return signed_text(ns / unit.ns, unit.decimals);
}

std::string format_change(double ratio) {
  const double percent = (ratio - 1) * kPercent;
  return signed_text(percent, percent_decimals(percent)) + "%";
}

std::string format_change_range(const verify::Interval& ratio) {
  if (!ratio.known) return "–";
  const double low = (ratio.low - 1) * kPercent;
  const double high = (ratio.high - 1) * kPercent;
  return signed_text(low, percent_decimals(low)) + " to " +
         signed_text(high, percent_decimals(high)) + "%";
}

}  // namespace pyrometer::output
