// Messages to the person at the keyboard, on stderr. Results never go this way.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::cli {

// "pyrometer: TEXT", one line.
void print_error(std::string_view text);
// The same, of what went well.
void print_note(std::string_view text);
// "pyrometer: warning: TEXT", one line.
void print_warning(std::string_view text);

// What the system says about an errno value, e.g. "No space left on device".
[[nodiscard]] std::string system_error_text(int error);

}  // namespace pyrometer::cli
