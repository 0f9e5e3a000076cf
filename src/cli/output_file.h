// The one way in which commands write their results.
#pragma once

#include <string>
#include <string_view>

#include "cli/generated/exit_codes.h"

namespace pyrometer::cli {

// Writes `text` to `path`, or to stdout where `path` is empty or "-". kOk when every byte was
// accepted and the file closed without an error; else kOutput, with a message on stderr that says
// what happened — except for a reader that closed the pipe, who does not want to hear about it.
// Expects SIGPIPE to be ignored.
[[nodiscard]] ExitCode write_output(std::string_view text, const std::string& path = {});

}  // namespace pyrometer::cli
