// Overrides on the command line: ID or ID=VALUE of docs/reference/overrides.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "model/overrides.h"

namespace pyrometer::cli {

// "ID" (with its default value) or "ID=VALUE". Returns what is wrong, as a clause that follows the
// quoted text, or "". An override that stands there already gets the new value.
[[nodiscard]] std::string parse_override(std::string_view text,
                                         std::vector<model::Override>& overrides);

// --NAME ID[=VALUE], repeatable.
[[nodiscard]] Option override_option(std::string name, std::string help,
                                     std::vector<model::Override>& target);

}  // namespace pyrometer::cli
