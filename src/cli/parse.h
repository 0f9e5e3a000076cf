// From argv to the command to run, its options set.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/global_options.h"

namespace pyrometer::cli {

struct Invocation {
  Command* command = nullptr;  // null: none was named
  GlobalOptions global;
};

// Reads the arguments after argv[0] and calls the setters of the options given. Errors are of kind
// kUsage; the message stands alone, the advice names the help to look at. With --help or --version
// nothing is required of the other arguments.
[[nodiscard]] base::Result<Invocation> parse(const std::vector<std::unique_ptr<Command>>& commands,
                                             const std::vector<std::string>& words);

}  // namespace pyrometer::cli
