// The files behind the paths that a user names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pyrometer::importers {

struct InputList {
  std::vector<std::string> files;   // "-" is stdin
  std::vector<bool> is_named;       // by file: not found in a folder but named by itself
  std::vector<base::Error> errors;  // of paths that could not be listed, if others could
  std::vector<std::string> notes;   // what was passed over, and why
};

// Folders are searched with all their subfolders for traces (.json, also compressed, also left
// behind as .tmp) and archives; their files come in natural order (rank2 before rank10). A file
// named by itself is taken whatever its name. Errors, where no path gave a file: kNotFound,
// kPermission, kEmpty for a folder without any, kUsage for no path at all or stdin named twice.
[[nodiscard]] base::Result<InputList> list_inputs(const std::vector<std::string>& paths);

// "rank2" < "rank10": runs of digits compare as numbers.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace pyrometer::importers
