#include "monitor/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ring/layout.h"
#include "ring/process_stat.h"

namespace pyrometer::monitor {
namespace {

namespace fs = std::filesystem;

std::string prefix() { return "pyrometer-" + std::to_string(::geteuid()) + "-"; }

struct Owner {
  int pid = 0;
  std::uint64_t start_ticks = 0;
};

// "pyrometer-<uid>-<pid>-<ticks>" of this user.
bool parse_name(const std::string& name, Owner& owner) {
  const std::string start = prefix();
  if (!name.starts_with(start)) return false;
  const char* at = name.data() + start.size();
  const char* const end = name.data() + name.size();
  const auto pid = std::from_chars(at, end, owner.pid);
  if (pid.ec != std::errc() || pid.ptr == end || *pid.ptr != '-') return false;
  const auto ticks = std::from_chars(pid.ptr + 1, end, owner.start_ticks);
  return ticks.ec == std::errc() && ticks.ptr == end && owner.pid > 0;
}

// A session's folder holds plain files alone. Throws nothing, not even where memory has run out.
void remove_folder(const char* folder) {
  if (DIR* listing = ::opendir(folder); listing != nullptr) {
    while (const dirent* entry = ::readdir(listing)) {
      (void)::unlinkat(::dirfd(listing), entry->d_name, 0);
    }
    ::closedir(listing);
  }
  (void)::rmdir(folder);
}

int open_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Whether a monitor holds the folder, in whatever pid namespace it lives.
bool is_locked(const fs::path& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

// For two rings at least.
bool has_room(const fs::path& parent) {
  constexpr std::uint64_t kRing =
      ring::kHeaderBytes + std::uint64_t{ring::kDefaultSlots} * ring::kSlotBytes;
  struct statvfs info {};
  return ::statvfs(parent.c_str(), &info) == 0 &&
         std::uint64_t{info.f_bavail} * info.f_frsize >= 2 * kRing;
}

void remove_stale(const fs::path& parent) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parent, none)) {
    Owner owner;
    const std::string name = entry.path().filename();
    if (!parse_name(name, owner)) continue;
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid()) {
      continue;
    }
    // A process that goes on writing there keeps its memory all the same: names alone go.
    if (!session_is_live(entry.path())) fs::remove_all(entry.path(), none);
  }
}

base::Result<std::string> make_folder(const fs::path& parent) {
  remove_stale(parent);
  ring::ProcessStat self;
  (void)ring::read_process_stat(0, &self);  // without /proc: 0, and nobody can tell us from stale
  const std::string name =
      prefix() + std::to_string(::getpid()) + "-" + std::to_string(self.start_ticks);
  const fs::path folder = parent / name;
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return base::fail(
        {.kind = errno == ENOSPC ? base::ErrorKind::kResource : base::ErrorKind::kPermission,
         .message = std::string("cannot make a folder for the recording's shared "
                                "memory: ") +
                    std::strerror(errno),
         .file = folder.string()});
  }
  return folder.string();
}

}  // namespace

bool session_is_live(const std::string& folder) {
  Owner owner;
  if (!parse_name(fs::path(folder).filename(), owner)) return false;
  return !ring::process_ended(static_cast<std::uint32_t>(owner.pid), owner.start_ticks) ||
         is_locked(folder);
}

base::Result<Session> Session::create() {
  const fs::path shared = "/dev/shm";
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  const bool shared_first = none || has_room(shared) || !has_room(temporary);
  auto folder = make_folder(shared_first ? shared : temporary);
  if (!folder && !none) {
    auto second = make_folder(shared_first ? temporary : shared);
    if (!second) return base::fail(folder.error());
    folder = std::move(second);
  }
  if (!folder) return base::fail(folder.error());
  const int lock = open_folder(*folder);
  if (lock >= 0) (void)::flock(lock, LOCK_EX | LOCK_NB);
  return Session(std::move(*folder), lock);
}

Session::~Session() {
  if (!folder_.empty()) remove_folder(folder_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

Session::Session(Session&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), lock_(std::exchange(other.lock_, -1)) {}

Session& Session::operator=(Session&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  return *this;
}

}  // namespace pyrometer::monitor
