#include "output/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>

namespace pyrometer::output {
namespace {

__extension__ using Wide = __int128;

// "1234567" → "1,234,567"; leaves decimals and a sign alone.
std::string group_thousands(std::string digits) {
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  std::size_t end = std::min(digits.find('.'), digits.size());
  while (end > sign + 3) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

}  // namespace

std::string format_number(double number) {
  if (!std::isfinite(number)) return "?";
  if (number == std::round(number) && std::abs(number) < 1000) return fmt::format("{:.0f}", number);
  if (number != 0 && std::abs(number) < 0.01) return fmt::format("{:.2g}", number);
  return group_thousands(fmt::format("{:.{}f}", number, base::decimals_of_three_digits(number)));
}

std::string format_tenths_of_percent(std::int64_t tenths) {
  return fmt::format("{}.{}%", tenths / 10, std::abs(tenths % 10));
}

std::string format_percent_range(double low, double high) {
  const int decimals = 100 * high < 9.95 ? 1 : 0;
  const std::string text = fmt::format("{:.{}f}", 100 * high, decimals);
  if (!(low > 0)) return "up to " + text + "%";
  return base::join_range(fmt::format("{:.{}f}", 100 * low, decimals), text, "%");
}

std::string format_count(double count) {
  if (!std::isfinite(count)) return "?";
  const bool whole = count == std::round(count);
  const int decimals = whole || std::abs(count) >= 100 ? 0 : (std::abs(count) < 10 ? 2 : 1);
  return group_thousands(fmt::format("{:.{}f}", count, decimals));
}

std::string format_bytes(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= kStep;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : base::decimals_of_three_digits(bytes),
                     kUnits[unit]);
}

namespace {

// Dollars want cents; less than a cent wants two significant digits.
int usd_decimals(double usd) {
  const double size = std::abs(usd);
  if (size == 0) return 0;
  if (size >= 999.5) return 0;
  if (size >= 0.095) return 2;
  return std::min(9, 1 - static_cast<int>(std::floor(std::log10(size))));
}

}  // namespace

std::string format_energy(double joules) {
  constexpr double kThousand = 1000;
  constexpr double kJoulesPerKwh = 3.6e6;
  if (joules > 0 && joules < 1) return format_number(joules * kThousand) + " mJ";
  if (joules < kThousand) return format_number(joules) + " J";
  if (joules < kJoulesPerKwh / 10) return format_number(joules / kThousand) + " kJ";
  return format_number(joules / kJoulesPerKwh) + " kWh";
}

std::string format_usd(double usd) {
  if (!std::isfinite(usd)) return "?";
  return "$" + group_thousands(fmt::format("{:.{}f}", usd, usd_decimals(usd)));
}

std::string format_usd_range(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "?";
  constexpr double kWholeDollars = 9.5;  // a range needs no cents
  const int decimals = high >= kWholeDollars ? 0 : usd_decimals(high);
  const std::string text = group_thousands(fmt::format("{:.{}f}", high, decimals));
  const std::string low_text = group_thousands(fmt::format("{:.{}f}", low, decimals));
  if (low_text.find_first_not_of("0.") == std::string::npos) return "up to $" + text;
  return "$" + base::join_range(low_text, text, "");
}

std::string format_usd_part(double usd, double whole) {
  if (!std::isfinite(usd)) return "?";
  return group_thousands(fmt::format("{:.{}f}", usd, usd_decimals(whole)));
}

std::string format_quantity(double value, std::string_view unit) {
  if (unit == "fraction") return format_percent(value);
  if (unit == "ns") return format_duration(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "count" || unit.empty()) return format_count(value);
  if (unit == "ratio" || unit == "x" || unit == "×") return format_number(value) + "×";
  if (unit == "percent" || unit == "%") return format_number(value) + "%";
  return format_number(value) + " " + std::string(unit);
}

std::vector<std::int64_t> apportion(std::span<const std::int64_t> parts, std::int64_t units) {
  std::vector<std::int64_t> shares(parts.size(), 0);
  const std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  if (sum <= 0) return shares;
  std::vector<std::int64_t> remainders(parts.size(), 0);
  std::int64_t left = units;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Wide scaled = Wide{parts[i]} * units;
    shares[i] = static_cast<std::int64_t>(scaled / sum);
    remainders[i] = static_cast<std::int64_t>(scaled % sum);
    left -= shares[i];
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (const std::size_t i : order) {
    if (left-- <= 0) break;
    ++shares[i];
  }
  return shares;
}

}  // namespace pyrometer::output
