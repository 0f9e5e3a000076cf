#include "monitor/contained_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "monitor/environment.h"
#include "monitor/guardian.h"

namespace pyrometer::monitor {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Of one message; 0 where the guardian is gone.
template <typename T>
bool receive(int line, T& out) {
  ssize_t got = 0;
  do {
    got = ::recv(line, &out, sizeof out, 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof out);
}

tl::unexpected<base::Error> failure(base::ErrorKind kind, const std::string& what, int why) {
  return base::fail(
      base::Error{.kind = kind, .message = what + ": " + std::strerror(why), .file = ""});
}

}  // namespace

base::Result<ContainedChild> ContainedChild::start(const ContainedCommand& command) {
  constexpr mode_t kOwn = 0600;
  const int log =
      ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, kOwn);
  if (log < 0) return failure(base::ErrorKind::kIo, "cannot write " + command.log, errno);
  int line[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0) {
    const int why = errno;
    ::close(log);
    return failure(base::ErrorKind::kResource, "cannot make a pair of sockets", why);
  }
  const std::vector<std::string> variables = merged_environment(command.environment);
  const std::vector<char*> words = exec_pointers(command.words);
  const std::vector<char*> environment = exec_pointers(variables);
  const pid_t guardian = ::fork();
  if (guardian == 0) {
    guard({.words = words,
           .environment = environment,
           .folder = command.folder.c_str(),
           .log = log,
           .line = line[1]});
  }
  const int fork_error = errno;
  ::close(log);
  ::close(line[1]);
  if (guardian < 0) {
    ::close(line[0]);
    return failure(base::ErrorKind::kResource, "cannot start a process", fork_error);
  }
  GuardianReport report;
  if (!receive(line[0], report)) report.error = ECHILD;
  if (report.error == 0) return ContainedChild(guardian, report.command, line[0]);
  ::close(line[0]);
  ::waitpid(guardian, nullptr, 0);
  return failure(report.error == ENOENT   ? base::ErrorKind::kNotFound
                 : report.error == EACCES ? base::ErrorKind::kPermission
                                          : base::ErrorKind::kResource,
                 "cannot run " + command.words[0], report.error);
}

ContainedChild::ContainedChild(ContainedChild&& other) noexcept
    : guardian_(other.guardian_),
      pid_(other.pid_),
      line_(std::exchange(other.line_, -1)),
      end_(other.end_) {}

ContainedChild::~ContainedChild() {
  if (line_ >= 0) (void)end(milliseconds{0});
}

void ContainedChild::finish(const ChildEnd& end) {
  end_ = end;
  ::close(line_);
  line_ = -1;
  ::waitpid(guardian_, nullptr, 0);
}

std::optional<ChildEnd> ContainedChild::wait(milliseconds most) {
  const auto until = steady_clock::now() + most;
  while (line_ >= 0) {
    pollfd file{.fd = line_, .events = POLLIN, .revents = 0};
    const auto left = duration_cast<milliseconds>(until - steady_clock::now()).count();
    if (::poll(&file, 1, static_cast<int>(std::max<std::int64_t>(0, left))) > 0) {
      int status = 0;
      if (!receive(line_, status)) {
        finish({.exit_code = -1, .signal = SIGKILL});  // somebody has killed the guardian
      } else if (WIFSIGNALED(status)) {
        finish({.exit_code = -1, .signal = WTERMSIG(status)});
      } else {
        finish({.exit_code = WEXITSTATUS(status), .signal = 0});
      }
    } else if (steady_clock::now() >= until) {
      return std::nullopt;
    }
  }
  return end_;
}

void ContainedChild::signal(int number) const {
  const auto byte = static_cast<unsigned char>(number);
  if (line_ >= 0) ::send(line_, &byte, sizeof byte, MSG_NOSIGNAL);
}

ChildEnd ContainedChild::end(milliseconds patience) {
  if (patience.count() > 0) {
    signal(SIGTERM);
    if (const auto ended = wait(patience)) return *ended;
  }
  signal(SIGKILL);
  for (;;) {
    if (const auto ended = wait(milliseconds{1000})) return *ended;
  }
}

}  // namespace pyrometer::monitor
