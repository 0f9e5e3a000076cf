// Setters for Option::set: how the text of an option's value becomes a value.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::cli {

using Setter = std::function<std::string(const std::string& value)>;

[[nodiscard]] Setter set_true(bool& target);
[[nodiscard]] Setter set_text(std::string& target);
[[nodiscard]] Setter append_text(std::vector<std::string>& target);
// A whole number in [low, high].
[[nodiscard]] Setter set_whole(int& target, int low, int high);
// A decimal number in [low, high]; `what` says so to people.
[[nodiscard]] Setter set_amount(std::optional<double>& target, double low, double high,
                                std::string what);

// What a suffix multiplies a number by.
struct Unit {
  std::string_view name;  // "" for a number alone
  double factor;
};
// A number of at least 0 with one of these suffixes; nullopt: anything else.
[[nodiscard]] std::optional<double> parse_with_unit(std::string_view text,
                                                    std::span<const Unit> units);
// "90s", "1.5m", "2h" or a plain number of seconds, in seconds; nullopt: none of these.
[[nodiscard]] std::optional<double> parse_seconds(const std::string& text);
// Such a time above 0, in seconds.
[[nodiscard]] Setter set_duration(double& target);

}  // namespace pyrometer::cli
