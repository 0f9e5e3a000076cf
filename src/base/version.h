// The version of this build.
#pragma once

#include <string_view>

namespace pyrometer::base {

// "0.1.0": the project version of the top CMakeLists.txt.
[[nodiscard]] std::string_view version();

}  // namespace pyrometer::base
