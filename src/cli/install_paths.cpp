#include "cli/install_paths.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace pyrometer::cli {

namespace fs = std::filesystem;

std::string own_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.string();
}

std::string installed_file(const std::string& name) {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("PYROMETER_LIBRARY_DIR"); given != nullptr && *given != 0) {
    folders.emplace_back(given);
  }
  const fs::path program = own_program();
  if (!program.empty()) {
    // <prefix>/bin/pyrometer, and <build>/src/cli/pyrometer.
    folders.push_back(program.parent_path().parent_path() / "lib" / "pyrometer");
    folders.push_back(program.parent_path().parent_path().parent_path() / "lib" / "pyrometer");
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path file = fs::absolute(folder / name, error);
    if (!error && fs::exists(file, error)) return file.lexically_normal().string();
  }
  return {};
}

}  // namespace pyrometer::cli
