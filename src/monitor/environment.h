// The environment and the arguments of a program to start.
#pragma once

#include <string>
#include <vector>

namespace pyrometer::monitor {

// Our own environment with `added` on top of it: NAME=value sets, NAME alone unsets.
[[nodiscard]] std::vector<std::string> merged_environment(const std::vector<std::string>& added);

// As execve wants them; null at the end. Refers to `texts`.
[[nodiscard]] std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace pyrometer::monitor
