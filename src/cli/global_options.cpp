#include "cli/global_options.h"

#include "cli/values.h"

namespace pyrometer::cli {

OptionGroup global_option_group(GlobalOptions& options) {
  const auto set_color = [&options](const std::string& value) {
    options.color = value == "always"  ? ColorChoice::kAlways
                    : value == "never" ? ColorChoice::kNever
                                       : ColorChoice::kAuto;
    return std::string{};
  };
  OptionGroup group{.title = "General", .options = {}};
  group.options.push_back(
      {.long_name = "color",
       .value = "WHEN",
       .help = "auto, always or never; auto obeys NO_COLOR, CLICOLOR_FORCE and TERM=dumb",
       .set = set_color,
       .completes = Completes::kWords,
       .words = {"auto", "always", "never"}});
  group.options.push_back({.short_name = 'h',
                           .long_name = "help",
                           .help = "show this help",
                           .set = set_true(options.help)});
  group.options.push_back({.long_name = "help-all",
                           .help = "show this help with the advanced options",
                           .set = set_true(options.help_all)});
  group.options.push_back({.short_name = 'V',
                           .long_name = "version",
                           .help = "show the version",
                           .set = set_true(options.version)});
  return group;
}

}  // namespace pyrometer::cli
