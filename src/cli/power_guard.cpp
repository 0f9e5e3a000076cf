#include "cli/power_guard.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "cli/message.h"
#include "sources/nvml/power_limits.h"

namespace pyrometer::cli {
namespace {

constexpr std::string_view kDismissed = "dismissed\n";

// False where the reader is gone.
bool write_all(int line, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(line, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

[[noreturn]] void guard(int line) {
  // Neither the terminal nor who waits for our output shall notice this process.
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  constexpr int kLine = 3;
  if (line != kLine) ::dup2(line, kLine);
  ::close_range(kLine + 1, ~0U, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  std::string told;
  char part[512];
  for (;;) {
    const ssize_t got = ::read(kLine, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    told.append(part, static_cast<std::size_t>(got));
  }
  if (!told.empty() && !told.ends_with(kDismissed)) {
    sources::nvml::restore_from(told, sources::nvml::open_nvml);
  }
  ::_exit(0);
}

}  // namespace

base::Result<PowerGuard> PowerGuard::start() {
  const auto fail = [](std::string_view what) {
    return base::fail({.kind = base::ErrorKind::kResource,
                       .message = std::string(what) + ": " + system_error_text(errno),
                       .file = ""});
  };
  int line[2];
  if (::pipe2(line, O_CLOEXEC) != 0) return fail("cannot make a pipe");
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(line[1]);
    guard(line[0]);
  }
  ::close(line[0]);
  if (process < 0) {
    ::close(line[1]);
    return fail("cannot start a process");
  }
  return PowerGuard(process, line[1]);
}

PowerGuard::PowerGuard(PowerGuard&& other) noexcept
    : process_(other.process_), line_(std::exchange(other.line_, -1)) {}

base::Result<void> PowerGuard::remember(std::string_view limits) {
  if (write_all(line_, limits)) return {};
  return base::fail({.kind = base::ErrorKind::kResource,
                     .message = "the process that would restore power limits has ended",
                     .file = ""});
}

void PowerGuard::dismiss() { static_cast<void>(write_all(line_, kDismissed)); }

void PowerGuard::end() {
  if (line_ < 0) return;
  ::close(std::exchange(line_, -1));
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace pyrometer::cli
