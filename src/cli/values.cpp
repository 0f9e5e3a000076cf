#include "cli/values.h"

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

}  // namespace pyrometer::cli
