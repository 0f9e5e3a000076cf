#include "cli/gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "cli/message.h"

namespace pyrometer::cli {
namespace {

// Others may lock the file, too: reading is all it takes. Never through a link that somebody has
// put there, and never waiting for the other end of a pipe.
int open_file(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  // Without O_CREAT first: the kernel refuses it on a file of somebody else's in a shared folder.
  int fd = ::open(path.c_str(), kFlags);
  if (fd >= 0 || errno != ENOENT) return fd;
  constexpr mode_t kAllRead = 0444;
  fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kAllRead);
  if (fd >= 0) (void)::fchmod(fd, kAllRead);  // whatever the umask
  if (fd < 0 && errno == EEXIST) fd = ::open(path.c_str(), kFlags);
  return fd;
}

}  // namespace

std::string lock_folder() {
  if (const char* own = std::getenv("PYROMETER_LOCKS"); own != nullptr && *own != 0) return own;
  return ::access("/run/lock", W_OK | X_OK) == 0 ? "/run/lock" : "/tmp";
}

GpuLock::~GpuLock() {
  if (fd_ >= 0) ::close(fd_);
}

base::Result<GpuLock::Outcome> GpuLock::take(const std::string& gpu) {
  std::string name = "pyrometer-";
  for (const char c : gpu) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  }
  const std::string path = lock_folder() + "/" + name + ".lock";
  const auto failed = [&path](const std::string& what) {
    return base::fail(
        {.kind = errno == EACCES ? base::ErrorKind::kPermission : base::ErrorKind::kIo,
         .message = what + ": " + system_error_text(errno),
         .file = path,
         .advice = "PYROMETER_LOCKS names another folder, --no-lock does without"});
  };
  fd_ = open_file(path);
  if (fd_ < 0) return failed("cannot open the lock");
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return Outcome::kTaken;
  const int why = errno;
  ::close(fd_);
  fd_ = -1;
  errno = why;
  if (why == EWOULDBLOCK) return Outcome::kHeldByOther;
  return failed("cannot lock");
}

void GpuLock::pass_on() {
  if (fd_ >= 0) (void)::fcntl(fd_, F_SETFD, 0);
  fd_ = -1;
}

}  // namespace pyrometer::cli
