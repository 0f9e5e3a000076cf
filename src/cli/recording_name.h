// What a new recording is called that was given no name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::cli {

// A file that is not there yet, in the current folder; where that cannot be written, in the one for
// temporary files: "train-20261201-101500.pyro", with a verb "train-tune-20261201-101500.pyro".
[[nodiscard]] std::string new_recording_name(const std::vector<std::string>& command,
                                             std::string_view verb = {});

}  // namespace pyrometer::cli
