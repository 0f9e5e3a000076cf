#include "cli/tune_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "tune/memory_bound.h"

namespace pyrometer::cli {
namespace {

using base::Result;
using tune::Objective;

tl::unexpected<base::Error> refuse(std::string message, std::string advice = {}) {
  return base::fail({.kind = base::ErrorKind::kUsage,
                     .message = std::move(message),
                     .file = "",
                     .advice = std::move(advice)});
}

Result<void> choose_objective(const TuneWords& words, TunePlan& plan) {
  const bool given = !words.objective.empty();
  if (!given && words.target_loss) plan.objective = Objective::kTimeToLoss;
  for (const tune::ObjectiveInfo& info : tune::objective_table()) {
    if (info.id == words.objective) plan.objective = info.objective;
  }
  const bool to_loss = plan.objective == Objective::kTimeToLoss;
  if (to_loss && !words.target_loss) {
    return refuse("--objective time_to_loss needs the loss to get to", "Give --target-loss LOSS");
  }
  if (!to_loss && words.target_loss) {
    return refuse("--target-loss goes with --objective time_to_loss alone");
  }
  // Whether a step is the same work in all configurations.
  bool same_steps = true;
  for (std::size_t d = 0; d < plan.space.dimensions.size(); ++d) {
    const bool is_batch = plan.space.dimensions[d].name == "batch_size";
    same_steps = same_steps && !is_batch && !plan.command.reaches_program(d);
  }
  plan.steps_will_do = same_steps && !given;
  if (plan.objective != Objective::kStepsPerSecond) return {};
  for (const tune::Dimension& one : plan.space.dimensions) {
    if (!tune::seems_to_grow_memory(one)) continue;
    plan.notes.push_back("steps of different " + one.name +
                         " are not the same work: samples_per_second compares them");
  }
  return {};
}

Result<void> choose_memory(const TuneWords& words, TunePlan& plan) {
  for (const tune::Dimension& one : plan.space.dimensions) {
    plan.grows_memory.push_back(words.memory.empty() && tune::seems_to_grow_memory(one));
  }
  for (const std::string& name : words.memory) {
    if (name == "none") continue;
    const tune::Dimension* one = plan.space.find(name);
    if (one == nullptr) return refuse("--memory-grows-with " + name + " is no dimension");
    if (!one->ordered()) {
      return refuse("--memory-grows-with " + name + " has values that are no numbers");
    }
    plan.grows_memory[static_cast<std::size_t>(one - plan.space.dimensions.data())] = true;
  }
  return {};
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<TunePlan> make_plan(const TuneWords& words) {
  TunePlan plan;
  auto space = tune::parse_space(words.space);
  if (!space) return base::fail(space.error());
  plan.space = std::move(*space);
  for (tune::Dimension& one : plan.space.dimensions) {
    // GPUs run with the highest unless somebody lowered it.
    if (one.name == tune::kPowerLimit) one.first = one.values.size() - 1;
  }
  if (plan.space.size() < 2) {
    return refuse("the space has a single configuration, so there is nothing to choose");
  }
  auto command = tune::CommandTemplate::make(words.command, plan.space);
  if (!command) return base::fail(command.error());
  plan.command = std::move(*command);
  plan.first = plan.space.first();
  if (!words.first.empty()) {
    auto first = tune::parse_point(words.first, plan.space);
    if (!first) {
      first.error().message = "--first: " + first.error().message;
      return base::fail(first.error());
    }
    plan.first = std::move(*first);
  }
  if (!words.samples.empty()) {
    auto samples = tune::SampleCount::parse(words.samples, plan.space);
    if (!samples) return base::fail(samples.error());
    plan.samples = std::move(*samples);
  }
  if (auto chosen = choose_objective(words, plan); !chosen) return base::fail(chosen.error());
  if (auto chosen = choose_memory(words, plan); !chosen) return base::fail(chosen.error());
  return plan;
}

std::map<std::string, std::string> settings_of(const TuneWords& words) {
  std::map<std::string, std::string> out = {
      {"space", words.space},
      {"first", words.first},
      {"objective", words.objective},
      {"samples_per_step", words.samples},
      {"trials", std::to_string(words.trials)},
      {"seed", std::to_string(words.seed)},
      {"trial_seconds", fmt::format("{}", words.seconds)},
      {"target_loss", words.target_loss ? fmt::format("{}", *words.target_loss) : ""}};
  for (std::size_t i = 0; i < words.command.size(); ++i) {
    out[fmt::format("command.{:04}", i)] = words.command[i];
  }
  for (std::size_t i = 0; i < words.memory.size(); ++i) {
    out[fmt::format("memory.{:04}", i)] = words.memory[i];
  }
  return out;
}

Result<TuneWords> words_of(const std::map<std::string, std::string>& settings,
                           const std::string& file) {
  TuneWords words;
  bool sound = true;
  const auto text = [&](const char* key) {
    const auto at = settings.find(key);
    sound = sound && at != settings.end();
    return at == settings.end() ? std::string() : at->second;
  };
  const auto whole = [&](const char* key) {
    const auto number = number_of(text(key));
    constexpr double kMost = 1e9;
    sound = sound && number && *number >= 0 && *number <= kMost;
    return sound ? static_cast<int>(*number) : 0;
  };
  words.space = text("space");
  words.first = text("first");
  words.objective = text("objective");
  words.samples = text("samples_per_step");
  words.trials = whole("trials");
  words.seed = whole("seed");
  const auto seconds = number_of(text("trial_seconds"));
  sound = sound && seconds && *seconds > 0;
  words.seconds = seconds.value_or(0);
  if (const std::string loss = text("target_loss"); !loss.empty()) {
    words.target_loss = number_of(loss);
    sound = sound && words.target_loss;
  }
  for (const auto& [key, value] : settings) {
    if (key.starts_with("command.")) words.command.push_back(value);
    if (key.starts_with("memory.")) words.memory.push_back(value);
  }
  if (!sound || words.command.empty()) {
    return base::fail({.kind = base::ErrorKind::kFormat,
                       .message = "results of a search whose settings are not all there",
                       .file = file,
                       .expected = "a file that pyrometer tune wrote"});
  }
  return words;
}

}  // namespace pyrometer::cli
