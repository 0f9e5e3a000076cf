// Keeps results from being written over what they are made from.
#pragma once

#include <string>
#include <vector>

namespace pyrometer::cli {

// Whether both names lead to one file or folder, be it by a link. Of files that do not exist yet,
// whether the names are the same. Devices such as /dev/null may be named twice.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

// "" where no two of `paths` are the same file; else a clause that names it. A run that counted
// twice would make intervals look narrower than they are.
[[nodiscard]] std::string given_twice(const std::vector<std::string>& paths);

struct Output {
  std::string option, path;  // "--junit"; path "" or "-": none of a file
};

// "" where no output is one of the inputs, is read from one that is a folder of traces, or is the
// same as another output; else a clause that says which.
[[nodiscard]] std::string overwrites(const std::vector<Output>& outputs,
                                     const std::vector<std::string>& inputs);

}  // namespace pyrometer::cli
