// The manual page pyrometer(1), from what the commands declare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace pyrometer::cli {

// In the man macros of roff; advanced options included.
[[nodiscard]] std::string man_page(const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace pyrometer::cli
