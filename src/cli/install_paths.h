// Where the files lie that belong to this program: beside it, in a package or a build folder.
#pragma once

#include <string>

namespace pyrometer::cli {

// The path of this program, as the system knows it; empty where /proc is not there.
[[nodiscard]] std::string own_program();

// `name` in lib/pyrometer of the installation or build that this program belongs to, or in
// $PYROMETER_LIBRARY_DIR where that is set; empty when it is not there.
[[nodiscard]] std::string installed_file(const std::string& name);

}  // namespace pyrometer::cli
