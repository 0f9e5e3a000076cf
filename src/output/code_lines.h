// Code of a fix in a narrow place, still to be copied and run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::output {

// The lines of `code` (Python or a shell command), each at most `width` columns wide where that can
// be: longer ones break where both languages allow it, with the rest indented by four. Inside
// brackets that is after a comma, an opening bracket or a space, elsewhere at a space or before a
// dot, with a backslash. A comment behind code moves above it; comments wrap between words. Strings
// are never broken.
[[nodiscard]] std::vector<std::string> fit_code(std::string_view code, int width);

}  // namespace pyrometer::output
