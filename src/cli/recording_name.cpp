#include "cli/recording_name.h"

#include <unistd.h>

#include <cctype>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace pyrometer::cli {
namespace {

namespace fs = std::filesystem;

std::string safe_name(std::string_view program) {
  std::string name;
  for (const char c : program) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    name += plain ? c : '_';
  }
  return name.empty() ? "run" : name;
}

// What tells one run of an interpreter from another is the script, not "python".
std::string run_name(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const fs::path path(command[i]);
    if (path.extension() == ".py") return safe_name(path.stem().string());
    if (command[i] == "-m" && i + 1 < command.size()) return safe_name(command[i + 1]);
  }
  return safe_name(fs::path(command.front()).filename().string());
}

bool writable_folder(const fs::path& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

}  // namespace

std::string new_recording_name(const std::vector<std::string>& command, std::string_view verb) {
  std::error_code none;
  fs::path folder = fs::current_path(none);
  if (!writable_folder(folder)) folder = fs::temp_directory_path(none);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char stamp[32];
  (void)std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  const std::string base =
      run_name(command) + (verb.empty() ? "" : "-" + std::string(verb)) + "-" + stamp;
  for (int i = 1;; ++i) {
    const fs::path file = folder / (base + (i == 1 ? "" : "-" + std::to_string(i)) + ".pyro");
    if (!fs::exists(file, none)) return file.string();
  }
}

}  // namespace pyrometer::cli
