#include "cli/override_option.h"

#include <algorithm>
#include <utility>

#include "cli/text.h"

namespace pyrometer::cli {
namespace {

// The id that is spelled almost so; else those that end in the same word, as "workers" does.
std::string meant(std::string_view id) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> ids;
  for (const model::OverrideInfo& info : model::override_table()) ids.emplace_back(info.id);
  if (std::string near = closest(id, ids); !near.empty()) return near;
  std::string names;
  std::size_t found = 0;
  for (const std::string& one : ids) {
    const bool same_word =
        one.ends_with("." + std::string(id)) || one.starts_with(std::string(id) + ".");
    if (id.empty() || !same_word || ++found > kMost) continue;
    names += (names.empty() ? "" : " or ") + one;
  }
  return names;
}

// Each id, and with a value where the values are words: what a shell offers.
std::vector<std::string> offered() {
  std::vector<std::string> words;
  for (const model::OverrideInfo& info : model::override_table()) {
    words.emplace_back(info.id);
    if (info.kind == model::OverrideKind::kSettings) continue;
    for (const std::string_view word : info.words) {
      words.push_back(std::string(info.id) + "=" + std::string(word));
    }
  }
  return words;
}

}  // namespace

std::string parse_override(std::string_view text, std::vector<model::Override>& overrides) {
  const std::size_t equals = text.find('=');
  const std::string_view id = text.substr(0, equals);
  const model::OverrideInfo* info = model::find_override(id);
  if (info == nullptr) {
    const std::string near = meant(id);
    return near.empty() ? "is no override: docs/reference/overrides.md lists them"
                        : "is no override (did you mean " + near + "?)";
  }
  std::string value(equals == std::string_view::npos ? info->default_value
                                                     : text.substr(equals + 1));
  if (value.empty()) return "has no value: " + model::values_of(*info);
  if (const std::string wrong = model::wrong_value(*info, value); !wrong.empty()) {
    return "has a value " + wrong;
  }
  const auto same = std::find_if(overrides.begin(), overrides.end(),
                                 [id](const model::Override& one) { return one.id == id; });
  if (same == overrides.end()) {
    overrides.push_back({std::string(id), std::move(value)});
  } else if (same->value != value) {
    return "is given twice, first as " + same->value + ": one value at a time";
  }
  return {};
}

Option override_option(std::string name, std::string help, std::vector<model::Override>& target) {
  return {.long_name = std::move(name),
          .value = "ID[=VALUE]",
          .help = std::move(help),
          .set = [&target](const std::string& value) { return parse_override(value, target); },
          .completes = Completes::kWords,
          .words = offered(),
          .other_words = true,
          .repeats = true};
}

}  // namespace pyrometer::cli
