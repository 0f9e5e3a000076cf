#include "cli/field_list.h"

#include <algorithm>

#include "cli/text.h"
#include "output/page.h"

namespace pyrometer::cli {
namespace {

constexpr std::size_t kMostSuggestions = 3;

std::vector<std::string> parts_of(std::string_view name) {
  constexpr std::size_t kTelling = 3;  // letters
  std::vector<std::string> parts;
  while (!name.empty()) {
    const std::size_t end = name.find_first_of("._");
    if (name.substr(0, end).size() >= kTelling) parts.emplace_back(name.substr(0, end));
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
  }
  return parts;
}

// The name that is spelled almost so, then those that share the most words with it.
std::vector<std::string> near_names(const std::string& word) {
  std::vector<std::string> names;
  for (const readout::Field& field : readout::all_fields()) names.emplace_back(field.name);
  std::vector<std::string> near;
  if (std::string meant = closest(word, names); !meant.empty()) near.push_back(std::move(meant));
  const std::vector<std::string> parts = parts_of(word);
  const auto shared = [&](const std::string& name) {
    return std::ranges::count_if(
        parts, [&](const std::string& part) { return name.find(part) != std::string::npos; });
  };
  std::ranges::stable_sort(names, std::ranges::greater{}, shared);
  const auto most = shared(names.front());
  for (const std::string& name : names) {
    if (most == 0 || shared(name) < most || near.size() >= kMostSuggestions) break;
    if (std::ranges::find(near, name) == near.end()) near.push_back(name);
  }
  return near;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.emplace_back(word);
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

std::string parse_field_list(std::string_view text, std::vector<readout::Field>& fields) {
  fields.clear();
  for (const std::string& word : split_list(text)) {
    if (word.empty()) return "a field is empty";
    if (const auto field = readout::find_field(word)) {
      fields.push_back(*field);
      continue;
    }
    std::string names;
    const std::vector<std::string> near = near_names(word);
    for (std::size_t i = 0; i < near.size(); ++i) {
      names += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
    }
    return "no field is called '" + word + "'" +
           (names.empty() ? "" : " (did you mean " + names + "?)");
  }
  return {};
}

std::string field_reference(int width, bool unicode, bool color) {
  output::Page page({.color = color, .unicode = unicode, .width = width});
  constexpr int kNames = 52;
  for (const readout::Field& field : readout::all_fields()) {
    std::string help(sources::metric_info(field.metric).help);
    if (field.form == readout::Form::kTime) help = "Local time of the reading.";
    if (field.form == readout::Form::kCount) help = "GPUs shown.";
    if (field.form == readout::Form::kRanks) {
      help = "Ranks of the recorded processes on the GPU, separated by blanks.";
    }
    std::string label(field.name);
    if (!field.unit.empty()) label.append(" [").append(field.unit).append("]");
    page.labelled(0, kNames, label, {{help}});
  }
  return page.take();
}

}  // namespace pyrometer::cli
