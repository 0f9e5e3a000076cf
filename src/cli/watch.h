// Repeats something on the screen, or down a pipe, until somebody has seen enough.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/generated/exit_codes.h"
#include "cli/terminal.h"

namespace pyrometer::cli {

struct WatchOptions {
  std::chrono::nanoseconds period{};
  bool redraw = false;  // write over the last block, where stdout is a terminal
};

// Calls `block` once a period, with the terminal as it is then, and writes its text to stdout.
// Ends with kOk by Ctrl-C or SIGTERM, even while `block` hangs, and with kOutput once nobody reads
// any more, also in the middle of a period. Call from the main thread, at most once in a process.
[[nodiscard]] ExitCode watch(const WatchOptions& options, const Terminal& terminal,
                             const std::function<std::string(const Terminal&)>& block);

}  // namespace pyrometer::cli
