// Help texts, from what the commands declare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace pyrometer::cli {

struct HelpStyle {
  int width = 80;
  bool color = false;
  bool advanced = false;  // list the options of Tier::kAdvanced too
};

// "-o, --output FILE", "--json", "PATH…"
[[nodiscard]] std::string option_label(const Option& option);
// "[options] PATH..."
[[nodiscard]] std::string usage_arguments(const std::vector<OptionGroup>& groups);

// Help of one command: purpose, examples, usage, options by group.
[[nodiscard]] std::string command_help(Command& command, const OptionGroup& global,
                                       const HelpStyle& style);
// Help of the tool: what it is, its commands, the global options, exit codes.
[[nodiscard]] std::string tool_help(const std::vector<std::unique_ptr<Command>>& commands,
                                    const OptionGroup& global, const HelpStyle& style);

// What the tool is, one line.
[[nodiscard]] std::string_view tool_purpose();

}  // namespace pyrometer::cli
