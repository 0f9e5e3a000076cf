// A command is one verb of the tool. Help, man page, shell completion and parsing all derive from
// what it declares here; nothing about an option is written twice.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/generated/exit_codes.h"
#include "cli/terminal.h"

namespace pyrometer::cli {

// Advanced options are listed by --help-all only.
enum class Tier { kBasic, kAdvanced };

// What a shell may offer as the value of an option.
enum class Completes { kNothing, kFiles, kWords };

// An option (long_name set), or a positional argument (long_name empty).
struct Option {
  char short_name = 0;    // 'o', 0: none
  std::string long_name;  // "output"
  std::string value;      // "FILE"; empty: a switch that takes no value
  std::string help;       // one clause, lower case, no trailing period
  // Called with every value in the order given ("" for a switch). Returns what is wrong with it, as
  // a clause that follows the quoted value, or "".
  std::function<std::string(const std::string& value)> set;
  Completes completes = Completes::kNothing;
  std::vector<std::string> words;  // the only values allowed, with kWords
  bool other_words = false;        // with kWords: `set` judges others, which may say what was meant
  Tier tier = Tier::kBasic;
  bool required = false;
  bool repeats = false;         // may be given any number of times; else the last one counts
  bool value_optional = false;  // --wait or --wait=TIME: never takes the next word as its value

  [[nodiscard]] bool positional() const { return long_name.empty(); }
  // The next word is not its value.
  [[nodiscard]] bool is_switch() const {
    return !positional() && (value.empty() || value_optional);
  }
};

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
};

struct Example {
  std::string command;  // as typed
  std::string what;
};

class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view purpose() const = 0;  // one line, starts with a verb
  [[nodiscard]] virtual std::vector<Example> examples() const = 0;
  // Setters refer to this command, which outlives them.
  [[nodiscard]] virtual std::vector<OptionGroup> options() = 0;
  // Plumbing for packagers: works, but help and completion do not list it.
  [[nodiscard]] virtual bool hidden() const { return false; }
  // The positional argument is a command line of its own: the first word that is no option of ours,
  // or what follows "--", and all after it are taken as they are.
  [[nodiscard]] virtual bool takes_command_line() const { return false; }
  // Where the words after a lone -- go, for commands that take files or a command line; null: they
  // are arguments like those before it.
  [[nodiscard]] virtual std::vector<std::string>* words_after_dashes() { return nullptr; }
  // Runs after all options are set. Prints results through OutputFile, messages to stderr.
  [[nodiscard]] virtual ExitCode run(const Terminal& terminal) = 0;
};

}  // namespace pyrometer::cli
