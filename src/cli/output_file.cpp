#include "cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cli/message.h"

namespace pyrometer::cli {
namespace {

// 0, or the errno of what failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

ExitCode write_output(std::string_view text, const std::string& path) {
  const bool to_stdout = path.empty() || path == "-";
  constexpr mode_t kReadableByAll = 0666;  // less the umask
  const int fd =
      to_stdout ? STDOUT_FILENO
                : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
  if (fd < 0) {
    print_error("cannot write " + path + ": " + system_error_text(errno));
    return ExitCode::kOutput;
  }
  int error = write_all(fd, text);
  // Some file systems report a full disk only here. A closed stdout also shows here, as EBADF.
  if (!to_stdout && ::close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return ExitCode::kOk;
  if (error != EPIPE) {
    print_error("cannot write " + (to_stdout ? "to stdout" : path) + ": " +
                system_error_text(error) + "; the output is incomplete");
  }
  return ExitCode::kOutput;
}

}  // namespace pyrometer::cli
