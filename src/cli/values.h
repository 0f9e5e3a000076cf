// Setters for Option::set: how the text of an option's value becomes a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
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

}  // namespace pyrometer::cli
