#include "model/allocator_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace pyrometer::model {
namespace {

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool is_switch(std::string_view text) { return text == "True" || text == "False"; }

// torch reads it as an int, and wants more than the 20 MB of its large buffers.
bool is_split_size(std::string_view text) {
  constexpr int kLargeBufferMb = 20;
  return number<int>(text).value_or(0) > kLargeBufferMb;
}

bool is_threshold(std::string_view text) {
  const double value = number<double>(text).value_or(0);
  return value > 0 && value < 1;
}

bool is_power_of_two(std::string_view text) {
  const std::int64_t value = number<int>(text).value_or(0);
  return value > 0 && (value & (value - 1)) == 0;
}

// "4", or "[256:1,512:2,>:4]": sizes in MB with the divisions between two powers of two.
bool are_divisions(std::string_view text) {
  if (!text.starts_with('[')) return is_power_of_two(text);
  if (!text.ends_with(']')) return false;
  text = text.substr(1, text.size() - 2);
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    const std::size_t colon = one.find(':');
    if (colon == one.npos) return false;
    const std::string_view size = one.substr(0, colon);
    if ((size != ">" && !is_power_of_two(size)) || !is_power_of_two(one.substr(colon + 1))) {
      return false;
    }
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool is_backend(std::string_view text) { return text == "native" || text == "cudaMallocAsync"; }

struct Setting {
  std::string_view key;
  bool (*takes)(std::string_view);
  std::string_view what;
};
constexpr std::array<Setting, 5> kSettings = {{
    {"expandable_segments", is_switch, "True or False"},
    {"max_split_size_mb", is_split_size, "a whole number of MB above 20"},
    {"garbage_collection_threshold", is_threshold, "a number between 0 and 1, both left out"},
    {"roundup_power2_divisions", are_divisions, "a power of two, or a list like [256:1,512:2,>:4]"},
    {"backend", is_backend, "native or cudaMallocAsync"},
}};

// At commas that are not within a list.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  return parts;
}

}  // namespace

std::string wrong_allocator_settings(std::string_view text) {
  std::vector<std::string_view> seen;
  for (const std::string_view part : parts_of(text)) {
    const std::size_t colon = part.find(':');
    const std::string_view key = part.substr(0, colon);
    const auto* const setting = std::find_if(kSettings.begin(), kSettings.end(),
                                             [key](const Setting& one) { return one.key == key; });
    if (colon == part.npos || setting == kSettings.end()) {
      return "whose part '" + std::string(part) + "' is no setting of the allocator";
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return "that has " + std::string(key) + " twice";
    }
    seen.push_back(key);
    if (!setting->takes(part.substr(colon + 1))) {
      return "whose " + std::string(key) + " is not " + std::string(setting->what);
    }
  }
  return {};
}

}  // namespace pyrometer::model
