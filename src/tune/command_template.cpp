#include "tune/command_template.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pyrometer::tune {
namespace {

using base::Result;

constexpr std::string_view kEnvironment = "env:";

tl::unexpected<base::Error> refuse(std::string message, std::string advice) {
  return base::fail({.kind = base::ErrorKind::kUsage,
                     .message = std::move(message),
                     .file = "",
                     .advice = std::move(advice)});
}

bool is_name(std::string_view text) {
  return !text.empty() && (text.front() < '0' || text.front() > '9') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '-' || c == ':';
         });
}

std::string names_of(const Space& space) {
  std::string names;
  for (const Dimension& one : space.dimensions) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<std::vector<CommandTemplate::Piece>> CommandTemplate::split(const std::string& word,
                                                                   const Space& space) {
  std::vector<Piece> pieces;
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    const bool doubled = (c == '{' || c == '}') && i + 1 < word.size() && word[i + 1] == c;
    if (c != '{' || doubled) {
      text += c;
      if (doubled) ++i;
      continue;
    }
    const std::size_t end = word.find('}', i);
    const std::string name = end == word.npos ? "" : word.substr(i + 1, end - i - 1);
    if (!is_name(name)) {
      return refuse("character " + std::to_string(i + 1) + " of the word " + word +
                        " of the command opens a brace that holds no name",
                    "Write {{ for a brace that the program shall get");
    }
    const Dimension* dimension = space.find(name);
    if (dimension == nullptr) {
      return refuse("{" + name + "} in the command is no dimension of the space, which has " +
                        names_of(space),
                    "Write {{ for a brace that the program shall get");
    }
    if (!text.empty()) pieces.push_back({std::move(text), std::nullopt});
    text.clear();
    pieces.push_back({"", static_cast<std::size_t>(dimension - space.dimensions.data())});
    i = end;
  }
  if (!text.empty() || pieces.empty()) pieces.push_back({std::move(text), std::nullopt});
  return pieces;
}

Result<CommandTemplate> CommandTemplate::make(const std::vector<std::string>& words,
                                              const Space& space) {
  CommandTemplate out;
  std::vector<bool> placed(space.dimensions.size());
  for (const std::string& word : words) {
    Result<std::vector<Piece>> pieces = split(word, space);
    if (!pieces) return base::fail(pieces.error());
    for (const Piece& piece : *pieces) {
      if (piece.dimension) placed[*piece.dimension] = true;
    }
    out.words_.push_back(std::move(*pieces));
  }
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) {
    const Dimension& one = space.dimensions[d];
    if (placed[d]) {
      out.uses_.push_back(Use::kPlaceholder);
      continue;
    }
    if (one.name.starts_with(kEnvironment)) {
      out.uses_.push_back(Use::kEnvironment);
      continue;
    }
    if (one.name == kPowerLimit) {
      const bool sound = one.ordered() && one.numbers.front() > 0;
      if (!sound) return refuse("power_limit has a value that is no number of watts", "");
      out.uses_.push_back(Use::kGpuLimit);
      out.power_limit_ = d;
      continue;
    }
    const model::OverrideInfo* info = model::find_override(one.name);
    if (info == nullptr) {
      return refuse(one.name + " of the space (character " + std::to_string(one.position) +
                        ") is used nowhere: the command has no {" + one.name +
                        "}, and it is no override",
                    "Put {" + one.name + "} into the command, or write env:" + one.name +
                        " for the environment; docs/reference/overrides.md lists overrides");
    }
    for (const std::string& value : one.values) {
      if (!model::takes_value(*info, value)) {
        return refuse("the override " + one.name + " does not take " + value,
                      "It takes " + model::values_of(*info));
      }
    }
    out.uses_.push_back(Use::kOverride);
  }
  return out;
}

Trial CommandTemplate::fill(const Space& space, const Point& point) const {
  Trial trial;
  for (const std::vector<Piece>& pieces : words_) {
    std::string word;
    for (const Piece& piece : pieces) {
      word += piece.dimension ? space.value(point, *piece.dimension) : piece.text;
    }
    trial.command.push_back(std::move(word));
  }
  for (std::size_t d = 0; d < uses_.size(); ++d) {
    const Dimension& one = space.dimensions[d];
    const std::string& value = space.value(point, d);
    switch (uses_[d]) {
      case Use::kPlaceholder:
        break;
      case Use::kOverride:
        trial.overrides.push_back({one.name, value});
        break;
      case Use::kEnvironment:
        trial.environment.push_back(one.name.substr(kEnvironment.size()) + "=" + value);
        break;
      case Use::kGpuLimit:
        trial.power_limit_w = one.numbers[point[d]];
        break;
    }
  }
  return trial;
}

bool CommandTemplate::reaches_program(std::size_t dimension) const {
  return uses_[dimension] == Use::kPlaceholder || uses_[dimension] == Use::kEnvironment;
}

Result<SampleCount> SampleCount::parse(std::string_view text, const Space& space) {
  SampleCount out;
  const std::string all(text);
  while (true) {
    const std::size_t star = text.find('*');
    const std::string_view one = text.substr(0, star);
    if (one.size() > 2 && one.front() == '{' && one.back() == '}') {
      const Dimension* dimension = space.find(one.substr(1, one.size() - 2));
      if (dimension == nullptr) {
        return refuse(std::string(one) + " in " + all +
                          " is no dimension of the space, which has " + names_of(space),
                      "");
      }
      if (!dimension->ordered() || dimension->numbers.front() <= 0) {
        return refuse(dimension->name + " in " + all + " has values that are no numbers above 0",
                      "");
      }
      out.dimensions_.push_back(static_cast<std::size_t>(dimension - space.dimensions.data()));
    } else if (const auto number = number_of(one)) {
      out.factor_ *= *number;
    } else {
      return refuse(
          "\"" + std::string(one) + "\" in " + all + " is neither a number above 0 nor a {name}",
          "Write it as {batch} or {batch}*8");
    }
    if (star == text.npos) return out;
    text.remove_prefix(star + 1);
  }
}

double SampleCount::of(const Space& space, const Point& point) const {
  double count = factor_;
  for (const std::size_t d : dimensions_) count *= space.dimensions[d].numbers[point[d]];
  return count;
}

}  // namespace pyrometer::tune
