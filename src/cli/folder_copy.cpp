#include "cli/folder_copy.h"

#include <system_error>

#include "monitor/interrupts.h"

namespace pyrometer::cli {

namespace fs = std::filesystem;

std::string copy_present_folder(const fs::path& to, const fs::path& scratch) {
  std::error_code error;
  const fs::path from = fs::current_path(error);
  if (error) return "cannot copy the present folder: " + error.message();
  fs::create_directory(to, error);
  fs::path at = from;
  for (auto entry = fs::recursive_directory_iterator(from, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (monitor::Interrupts::signal() != 0) return "interrupted while copying " + from.string();
    std::error_code none;
    at = entry->path();
    if (fs::equivalent(entry->path(), scratch, none)) {
      entry.disable_recursion_pending();
      continue;
    }
    const fs::path target = to / entry->path().lexically_relative(from);
    if (entry->is_symlink(none)) {
      fs::copy_symlink(entry->path(), target, error);
    } else if (entry->is_directory(none)) {
      fs::create_directory(target, entry->path(), error);
      fs::permissions(target, fs::perms::owner_all, fs::perm_options::add, none);
    } else if (entry->is_regular_file(none)) {  // sockets and pipes are not for copying
      fs::copy_file(entry->path(), target, error);
    }
    if (error) break;
  }
  return error ? "cannot copy " + at.string() + ": " + error.message() : "";
}

}  // namespace pyrometer::cli
