// A copy of the present folder, for commands whose files are not to stay.
#pragma once

#include <filesystem>
#include <string>

namespace pyrometer::cli {

// The present folder to `to`, without `scratch`, which may lie below it. What is copied can be
// written by its owner, so that it can be filled and removed again. Says what went wrong; stops
// when asked to.
[[nodiscard]] std::string copy_present_folder(const std::filesystem::path& to,
                                              const std::filesystem::path& scratch);

}  // namespace pyrometer::cli
