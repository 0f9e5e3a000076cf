#include "output/bars.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace pyrometer::output {
namespace {

constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::string_view kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiLevels = "_.:-=+*#";

}  // namespace

std::string bar(double fraction, int width, bool unicode) {
  if (!(fraction > 0) || width <= 0) return {};
  const double length = std::min(fraction, 1.0) * width;
  std::string out;
  if (!unicode) {
    out.assign(static_cast<std::size_t>(std::max(1L, std::lround(length))), '#');
    return out;
  }
  const long eighths = std::max(1L, std::lround(length * 8));
  for (long i = 0; i < eighths / 8; ++i) out += kEighths[8];
  out += kEighths[eighths % 8];
  return out;
}

std::string sparkline(std::span<const double> values, double highest, int width, bool unicode) {
  std::string out;
  const std::size_t columns = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
  for (std::size_t i = 0; i < columns; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / columns);
    const auto last =
        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / columns);
    const double value = *std::max_element(first, last);
    const double fraction = highest > 0 ? std::clamp(value / highest, 0.0, 1.0) : 0;
    constexpr std::size_t kTop = std::size(kLevels) - 1;
    const auto level = static_cast<std::size_t>(std::lround(fraction * kTop));
    if (unicode) {
      out += kLevels[level];
    } else {
      out += kAsciiLevels[level];
    }
  }
  return out;
}

}  // namespace pyrometer::output
