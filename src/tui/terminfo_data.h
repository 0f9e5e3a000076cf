// Descriptions of the most common terminals, as the machine that built the program has them: for
// machines that have none. tui/CMakeLists.txt makes them.
#pragma once

#include <span>
#include <string_view>

namespace pyrometer::tui {

struct BuiltInTerminal {
  std::string_view name;
  std::string_view hex;  // the compiled description, two digits a byte
};
[[nodiscard]] std::span<const BuiltInTerminal> built_in_terminals();

}  // namespace pyrometer::tui
