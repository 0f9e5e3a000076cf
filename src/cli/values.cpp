#include "cli/values.h"

#include <array>
#include <charconv>
#include <utility>

namespace pyrometer::cli {
namespace {

template <typename Number>
std::optional<Number> parse(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<double> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  constexpr double kMost = 1e18;  // bytes
  double number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0 && number <= kMost)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name == unit) return number * known.factor;
  }
  return std::nullopt;
}

std::optional<double> parse_seconds(const std::string& text) {
  static constexpr std::array<Unit, 6> kUnits = {
      {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  // As many nanoseconds still fit into 64 bits.
  constexpr double kMost = 9e9;
  const auto seconds = parse_with_unit(text, kUnits);
  return seconds && *seconds <= kMost ? seconds : std::nullopt;
}

Setter set_true(bool& target) {
  return [&target](const std::string&) {
    target = true;
    return std::string{};
  };
}

Setter set_text(std::string& target) {
  return [&target](const std::string& value) {
    target = value;
    return std::string{value.empty() ? "is empty" : ""};
  };
}

Setter append_text(std::vector<std::string>& target) {
  return [&target](const std::string& value) {
    target.push_back(value);
    return std::string{value.empty() ? "is empty" : ""};
  };
}

Setter set_whole(int& target, int low, int high) {
  return [&target, low, high](const std::string& value) {
    const std::optional<int> number = parse<int>(value);
    if (!number || *number < low || *number > high) {
      return "is not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    }
    target = *number;
    return std::string{};
  };
}

Setter set_amount(std::optional<double>& target, double low, double high, std::string what) {
  return [&target, low, high, what = std::move(what)](const std::string& value) {
    const std::optional<double> number = parse<double>(value);
    // Written so that NaN is none either.
    if (!number || !(*number >= low && *number <= high)) return "is not " + what;
    target = number;
    return std::string{};
  };
}

Setter set_duration(double& target) {
  return [&target](const std::string& value) -> std::string {
    const std::optional<double> seconds = parse_seconds(value);
    if (!seconds || *seconds <= 0) return "is no time like 90s, 10m or 1h";
    target = *seconds;
    return {};
  };
}

}  // namespace pyrometer::cli
