// Shell completion scripts, from what the commands declare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace pyrometer::cli {

using Commands = std::vector<std::unique_ptr<Command>>;

[[nodiscard]] std::string bash_completion(const Commands& commands);
[[nodiscard]] std::string zsh_completion(const Commands& commands);
[[nodiscard]] std::string fish_completion(const Commands& commands);

}  // namespace pyrometer::cli
