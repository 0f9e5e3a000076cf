#include "cli/man_page.h"

#include "base/version.h"
#include "cli/global_options.h"
#include "cli/help.h"

namespace pyrometer::cli {
namespace {

// Text that roff would read as markup becomes plain; a hyphen stays one that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && out.empty()) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n.B " + roff(tag) + "\n" + roff(text) + "\n";
}

std::string option_list(const OptionGroup& group) {
  std::string out;
  for (const Option& option : group.options) out += tagged(option_label(option), option.help);
  return out;
}

std::string command_section(Command& command) {
  const std::vector<OptionGroup> groups = command.options();
  std::string out =
      ".SS " + roff("pyrometer " + std::string(command.name()) + " " + usage_arguments(groups)) +
      "\n";
  out += roff(command.purpose()) + "\n";
  for (const Example& example : command.examples()) {
    out += tagged(example.command, example.what);
  }
  for (const OptionGroup& group : groups) {
    out += ".PP\n.I " + roff(group.title) + "\n" + option_list(group);
  }
  return out;
}

}  // namespace

std::string man_page(const std::vector<std::unique_ptr<Command>>& commands) {
  GlobalOptions unused;
  std::string out =
      ".TH PYROMETER 1 \"\" \"pyrometer " + std::string(base::version()) + "\" \"User Commands\"\n";
  out += ".SH NAME\npyrometer \\- " + roff(tool_purpose()) + "\n";
  out += ".SH SYNOPSIS\n.B pyrometer\n.I COMMAND\n[options]\n";
  out += ".SH COMMANDS\n";
  for (const auto& command : commands) {
    if (!command->hidden()) out += command_section(*command);
  }
  out += ".SH GENERAL OPTIONS\n" + option_list(global_option_group(unused));
  out += ".SH FILES\n";
  out += tagged(
      "$XDG_CONFIG_HOME/pyrometer/config.toml",
      "defaults of the user; ~/.config where XDG_CONFIG_HOME is not set. Keys: "
      "price_per_gpu_hour, [prices], [energy], [efficiency], [thresholds], [rules] disabled");
  out += ".SH EXIT STATUS\n";
  for (const ExitCodeInfo& info : kExitCodes) {
    out += tagged(std::to_string(static_cast<int>(info.code)), info.help);
  }
  return out;
}

}  // namespace pyrometer::cli
