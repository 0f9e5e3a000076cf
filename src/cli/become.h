// Turns this process into another program.
#pragma once

#include <string>
#include <vector>

namespace pyrometer::cli {

// Runs the command in place of this process: its id, exit code and signals are the command's. Where
// it cannot be run, says so and ends with 127 (there is none) or 126.
[[noreturn]] void become(const std::vector<std::string>& command);

}  // namespace pyrometer::cli
