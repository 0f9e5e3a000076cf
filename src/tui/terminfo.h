// What terminals can do: found in more places than the library looks in by itself.
#pragma once

#include <string>

namespace pyrometer::tui {

// Prepares the search and returns the type to use: $TERM, or one of the same family where nothing
// is known of it (an emulator's own type on a server that is older than it), or where no
// description is found at all, one that is built in. Empty where $TERM is not set or means nothing.
// Changes the environment: call it before there are threads. `folder`: of the installation, may be
// empty.
[[nodiscard]] std::string known_terminal_type(const std::string& folder);

}  // namespace pyrometer::tui
