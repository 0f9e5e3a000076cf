// The list of commands.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"

namespace pyrometer::cli {

// Every command, in the order in which help lists them.
[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands();

}  // namespace pyrometer::cli
