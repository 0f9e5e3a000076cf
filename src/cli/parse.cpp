#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/help.h"
#include "cli/text.h"

namespace pyrometer::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

Error usage_error(std::string message, std::string_view command) {
  std::string advice = "See pyrometer ";
  if (!command.empty()) advice += std::string(command) + " ";
  return {.kind = ErrorKind::kUsage, .message = std::move(message), .advice = advice + "--help"};
}

std::string shown_name(const Option& option) {
  return option.positional() ? option.value : "--" + option.long_name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// Calls the option's setter for each value. What is wrong leaves through CLI11 as a
// ValidationError.
void apply(const Option& option, const std::vector<std::string>& values) {
  if (values.size() > 1 && !option.repeats) {
    throw CLI::ValidationError("unexpected argument '" + values[1] + "'");
  }
  for (const std::string& value : values) {
    std::string wrong;
    if (option.completes == Completes::kWords && !option.other_words &&
        !std::ranges::count(option.words, value)) {
      wrong = "is not " + joined(option.words);
    } else {
      wrong = option.set(value);
    }
    if (wrong.empty()) continue;
    throw CLI::ValidationError(shown_name(option) + ": '" + value + "' " + wrong);
  }
}

std::string cli11_names(const Option& option) {
  if (option.positional()) return option.value;
  return (option.short_name != 0 ? std::string{'-', option.short_name, ','} : std::string{}) +
         "--" + option.long_name;
}

// A flag that may have a text: CLI11 says "true" where there is none.
void declare_value_optional(CLI::App& app, const Option& option) {
  const auto text = std::make_shared<std::string>();
  app.add_flag(cli11_names(option), *text)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->each([option, text](const std::string& value) {
        try {
          apply(option, {value == "true" ? std::string{} : value});
        } catch (const CLI::ValidationError& error) {
          // CLI11 would put the name before this kind once more.
          throw CLI::ParseError(error.what(), CLI::ExitCodes::ValidationError);
        }
      });
}

void declare(CLI::App& app, const OptionGroup& group) {
  for (const Option& option : group.options) {
    if (option.value_optional) {
      declare_value_optional(app, option);
      continue;
    }
    if (option.is_switch()) {
      app.add_flag_function(cli11_names(option),
                            [option](std::int64_t) { apply(option, {std::string{}}); });
      continue;
    }
    if (option.positional()) {
      app.add_option_function<std::vector<std::string>>(
          cli11_names(option),
          [option](const std::vector<std::string>& values) { apply(option, values); });
      continue;
    }
    if (option.repeats) {
      app.add_option_function<std::vector<std::string>>(
             cli11_names(option),
             [option](const std::vector<std::string>& values) { apply(option, values); })
          ->allow_extra_args(false);  // one value each time
      continue;
    }
    // Exactly one value, so that what follows it stays a positional argument. Of
    // `--width 80 --width 90` the last one counts, as with most tools.
    app.add_option_function<std::string>(
           cli11_names(option), [option](const std::string& value) { apply(option, {value}); })
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

std::vector<std::string> long_options(const std::vector<OptionGroup>& groups) {
  std::vector<std::string> names;
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) {
      if (!option.positional()) names.push_back("--" + option.long_name);
    }
  }
  return names;
}

std::string did_you_mean(const std::string& meant) {
  return meant.empty() ? "" : " (did you mean " + meant + "?)";
}

std::string unknown_word(const std::string& word, const std::vector<OptionGroup>& groups) {
  if (word.size() < 2 || word.front() != '-') return "unexpected argument '" + word + "'";
  const std::string name = word.substr(0, word.find('='));
  if (std::error_code none; std::filesystem::exists(word, none)) {
    return "unknown option " + name + did_you_mean("the file ./" + word);
  }
  const std::string meant = closest(name, long_options(groups));
  return "unknown option " + name + did_you_mean(meant);
}

// The switch that is given a value (`--json=5`), which CLI11 would take; "" when there is none.
// Looks no further than the first word that is no option when `leading_only`.
std::string switch_with_value(const std::vector<OptionGroup>& groups,
                              const std::vector<std::string>& words, bool leading_only) {
  for (const std::string& word : words) {
    if (word == "--" || (leading_only && !word.starts_with('-'))) break;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = word.substr(2, equals - 2);
    for (const OptionGroup& group : groups) {
      for (const Option& option : group.options) {
        if (option.value.empty() && option.long_name == name) return "--" + name;
      }
    }
  }
  return {};
}

// One run of CLI11 over `words`. Stops at the first word that is no option when `leading_only`, and
// returns that word and all after it.
Result<std::vector<std::string>> parse_with(const std::vector<OptionGroup>& groups,
                                            std::vector<std::string> words, bool leading_only,
                                            std::string_view command) {
  if (const std::string name = switch_with_value(groups, words, leading_only); !name.empty()) {
    return base::fail(usage_error(name + " takes no value", command));
  }
  CLI::App app;
  app.set_help_flag();  // ours are options like any other
  app.prefix_command(leading_only);
  app.allow_extras();
  for (const OptionGroup& group : groups) declare(app, group);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ArgumentMismatch& error) {
    // "--price: 1 required TEXT missing"
    const std::string text = error.what();
    return base::fail(usage_error(text.substr(0, text.find(':')) + " needs a value", command));
  } catch (const CLI::ParseError& error) {
    return base::fail(usage_error(error.what(), command));
  }
  std::vector<std::string> rest = app.remaining();
  // CLI11 has taken what follows "--" as arguments, and hands the mark itself back.
  if (!leading_only) std::erase(rest, "--");
  return rest;
}

Error unknown_command(const std::vector<std::unique_ptr<Command>>& commands,
                      const std::string& word) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (!command->hidden()) names.emplace_back(command->name());
  }
  std::string message = "unknown command '" + word + "'";
  std::error_code ignored;
  const std::string meant =
      std::filesystem::exists(word, ignored) ? "analyze " + word : closest(word, names);
  message += did_you_mean(meant.empty() ? meant : "pyrometer " + meant);
  return usage_error(std::move(message), "");
}

// What is required and was not given, "" when nothing.
std::string missing_value(const std::vector<OptionGroup>& groups,
                          const std::vector<std::string>& given) {
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) {
      if (option.required && !std::ranges::count(given, shown_name(option))) {
        return shown_name(option);
      }
    }
  }
  return {};
}

// Notes in `given` the name of each option whose setter runs.
void record_given(std::vector<OptionGroup>& groups, std::vector<std::string>& given) {
  for (OptionGroup& group : groups) {
    for (Option& option : group.options) {
      option.set = [&given, name = shown_name(option), set = option.set](const std::string& value) {
        given.push_back(name);
        return set(value);
      };
    }
  }
}

// `words` of a command whose positional argument is a command line: our options, then that.
Result<std::vector<std::string>> parse_command_line(const std::vector<OptionGroup>& groups,
                                                    const std::vector<std::string>& words,
                                                    std::string_view command) {
  std::vector<OptionGroup> ours = groups;
  const Option* line = nullptr;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::erase_if(ours[i].options, [](const Option& option) { return option.positional(); });
    for (const Option& option : groups[i].options) {
      if (option.positional()) line = &option;
    }
  }
  Result<std::vector<std::string>> rest = parse_with(ours, words, true, command);
  if (!rest) return rest;
  if (!rest->empty() && rest->front() == "--") {
    rest->erase(rest->begin());
  } else if (!rest->empty() && rest->front().starts_with('-')) {
    return rest;  // an unknown option
  }
  for (const std::string& word : *rest) (void)line->set(word);
  rest->clear();
  return rest;
}

}  // namespace

Result<Invocation> parse(const std::vector<std::unique_ptr<Command>>& commands,
                         const std::vector<std::string>& words) {
  Invocation invocation;
  const OptionGroup global = global_option_group(invocation.global);
  Result<std::vector<std::string>> rest = parse_with({global}, words, true, "");
  if (!rest) return base::fail(std::move(rest.error()));
  if (rest->empty()) return invocation;
  const std::string& name = rest->front();
  if (name.starts_with('-')) return base::fail(usage_error(unknown_word(name, {global}), ""));

  const auto found =
      std::ranges::find_if(commands, [&](const auto& command) { return command->name() == name; });
  if (found == commands.end()) return base::fail(unknown_command(commands, name));
  invocation.command = found->get();

  std::vector<OptionGroup> groups = invocation.command->options();
  groups.push_back(global);
  std::vector<std::string> given;
  record_given(groups, given);
  std::vector<std::string> own_words(rest->begin() + 1, rest->end());
  if (std::vector<std::string>* after = invocation.command->words_after_dashes()) {
    const auto dashes = std::ranges::find(own_words, "--");
    if (dashes != own_words.end()) after->assign(dashes + 1, own_words.end());
    own_words.erase(dashes, own_words.end());
  }
  const Result<std::vector<std::string>> extra = invocation.command->takes_command_line()
                                                     ? parse_command_line(groups, own_words, name)
                                                     : parse_with(groups, own_words, false, name);
  if (!extra) return base::fail(extra.error());
  if (invocation.global.help || invocation.global.help_all || invocation.global.version) {
    return invocation;
  }
  if (!extra->empty()) return base::fail(usage_error(unknown_word(extra->front(), groups), name));
  if (const std::string missing = missing_value(groups, given); !missing.empty()) {
    return base::fail(usage_error("no " + missing + " given", name));
  }
  return invocation;
}

}  // namespace pyrometer::cli
