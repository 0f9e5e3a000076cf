// Options that several commands have.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

namespace pyrometer::cli {

// --price USD, within price_range.h.
[[nodiscard]] Option price_option(std::optional<double>& target, std::string help);

// --config FILE, instead of the user's own.
[[nodiscard]] Option config_option(std::string& target);

}  // namespace pyrometer::cli
