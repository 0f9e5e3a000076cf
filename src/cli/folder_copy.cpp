#include "cli/folder_copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "monitor/interrupts.h"

namespace pyrometer::cli {

namespace fs = std::filesystem;

namespace {

// A copy that shares its blocks until one side writes: no time and no space, where the file system
// can (btrfs, XFS) and both lie in it. False: nothing was made.
bool clone_file(const fs::path& from, const fs::path& to) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return false;
  struct stat about {};
  constexpr mode_t kPermissions = 0777;
  const int target = ::fstat(source, &about) != 0
                         ? -1
                         : ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                  about.st_mode & kPermissions);
  const bool made = target >= 0 && ::ioctl(target, FICLONE, source) == 0;
  if (made) ::fchmod(target, about.st_mode & kPermissions);  // the umask does not count
  ::close(source);
  if (target >= 0) ::close(target);
  if (target >= 0 && !made) ::unlink(to.c_str());
  return made;
}

}  // namespace

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
      if (!clone_file(entry->path(), target)) fs::copy_file(entry->path(), target, error);
    }
    if (error) break;
  }
  return error ? "cannot copy " + at.string() + ": " + error.message() : "";
}

}  // namespace pyrometer::cli
