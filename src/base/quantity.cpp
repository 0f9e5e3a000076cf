#include "base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pyrometer::base {
namespace {

constexpr double kUs = 1e3;
constexpr double kMs = 1e6;
constexpr double kSecond = 1e9;
constexpr double kMinute = 60 * kSecond;
constexpr double kHour = 60 * kMinute;

int speedup_decimals(double high) {
  if (high < 1.995) return 2;
  return high < 99.95 ? 1 : 0;
}

}  // namespace

int decimals_of_three_digits(double number) {
  const double size = std::abs(number);
  if (size < 9.995) return 2;
  return size < 99.95 ? 1 : 0;
}

std::string join_range(const std::string& low, const std::string& high, std::string_view unit) {
  return (low == high ? low : low + "–" + high) + std::string(unit);
}

DurationUnit duration_unit(double typical_ns) {
  const double size = std::abs(typical_ns);
  DurationUnit unit;
  if (size < 999.5) {
    return {"ns", 1, 0};
  }
  if (size < 999.5 * kUs) {
    unit = {"µs", kUs};
  } else if (size < 999.5 * kMs) {
    unit = {"ms", kMs};
  } else if (size < 10 * kMinute) {
    unit = {"s", kSecond};
  } else if (size < 10 * kHour) {
    unit = {"min", kMinute};
  } else {
    unit = {"h", kHour};
  }
  unit.decimals = decimals_of_three_digits(typical_ns / unit.ns);
  return unit;
}

std::string DurationUnit::format(double value_ns) const {
  if (!std::isfinite(value_ns)) return "?";
  const std::string text = fmt::format("{:.{}f}", value_ns / ns, decimals);
  return text.starts_with("-0") && text.find_first_not_of("-0.") == std::string::npos
             ? text.substr(1)
             : text;
}

std::string format_duration(double ns) {
  if (!std::isfinite(ns)) return "?";
  if (ns == 0) return "0";
  const DurationUnit unit = duration_unit(ns);
  return unit.format(ns) + " " + std::string(unit.name);
}

std::string format_duration_range(double low_ns, double high_ns) {
  if (low_ns > high_ns) std::swap(low_ns, high_ns);
  const DurationUnit unit = duration_unit(high_ns);
  return join_range(unit.format(low_ns), unit.format(high_ns), " " + std::string(unit.name));
}

std::string format_percent(double fraction) { return fmt::format("{:.1f}%", 100 * fraction); }

std::string format_expected(double mid_ns, double low_ns, double high_ns) {
  const DurationUnit unit = duration_unit(std::max(low_ns, high_ns));
  return unit.format(mid_ns) + " " + std::string(unit.name);
}

std::string format_speedup(double baseline_ns, double mid_ns, double low_ns, double high_ns) {
  const double low = baseline_ns / std::max(low_ns, high_ns);
  const double high = baseline_ns / std::min(low_ns, high_ns);
  const double mid = baseline_ns / mid_ns;
  if (!std::isfinite(low) || !std::isfinite(mid) || !std::isfinite(high)) return "?";
  const int decimals = speedup_decimals(high);
  const auto text = [decimals](double speedup) {
    return fmt::format("{:.{}f}", speedup, decimals);
  };
  const std::string expected = text(mid) + "× as fast";
  if (text(low) == text(high)) return expected;
  return expected + " (" + join_range(text(low), text(high), "×") + ")";
}

}  // namespace pyrometer::base
