// Options that every command takes.
#pragma once

#include "cli/command.h"
#include "cli/terminal.h"

namespace pyrometer::cli {

struct GlobalOptions {
  ColorChoice color = ColorChoice::kAuto;
  bool help = false;
  bool help_all = false;
  bool version = false;
};

// Setters refer to `options`.
[[nodiscard]] OptionGroup global_option_group(GlobalOptions& options);

}  // namespace pyrometer::cli
