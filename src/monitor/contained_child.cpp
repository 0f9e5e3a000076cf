#include "monitor/contained_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "monitor/environment.h"

namespace pyrometer::monitor {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPoll{20};

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& environment,
                         const char* folder, int log, int report, pid_t parent) {
  ::setpgid(0, 0);
  // Should this process be killed, the command is told to end as well.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (*folder == 0 || ::chdir(folder) == 0) {
    ::execvpe(words[0], words.data(), environment.data());
  }
  const int why = errno;
  [[maybe_unused]] const auto written = ::write(report, &why, sizeof why);
  ::_exit(127);
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> out;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t pid = 0; file >> pid;) out.push_back(pid);
  }
  return out;
}

// Processes that lost their parent are ours since then.
void end_orphans() {
  constexpr int kRounds = 100;  // each may leave children of its own
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<pid_t> left = own_children();
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) ::waitpid(pid, nullptr, 0);
  }
}

}  // namespace

base::Result<ContainedChild> ContainedChild::start(const ContainedCommand& command) {
  const auto failure = [&](base::ErrorKind kind, const std::string& what, int why) {
    return base::fail(
        base::Error{.kind = kind, .message = what + ": " + std::strerror(why), .file = ""});
  };
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  constexpr mode_t kOwn = 0600;
  const int log =
      ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, kOwn);
  if (log < 0) return failure(base::ErrorKind::kIo, "cannot write " + command.log, errno);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    const int why = errno;
    ::close(log);
    return failure(base::ErrorKind::kResource, "cannot make a pipe", why);
  }
  const std::vector<std::string> variables = merged_environment(command.environment);
  const std::vector<char*> words = exec_pointers(command.words);
  const std::vector<char*> environment = exec_pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(words, environment, command.folder.c_str(), log, report[1], parent);
  const int fork_error = errno;
  ::close(log);
  ::close(report[1]);
  if (pid < 0) {
    ::close(report[0]);
    return failure(base::ErrorKind::kResource, "cannot start a process", fork_error);
  }
  ::setpgid(pid, pid);  // as the child does: whoever is first
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(report[0], &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (got == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(pid, nullptr, 0);
    return failure(why == ENOENT   ? base::ErrorKind::kNotFound
                   : why == EACCES ? base::ErrorKind::kPermission
                                   : base::ErrorKind::kResource,
                   "cannot run " + command.words[0], why);
  }
  return ContainedChild(pid);
}

ContainedChild::ContainedChild(ContainedChild&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), end_(other.end_) {}

ContainedChild::~ContainedChild() {
  if (pid_ != 0) (void)end(milliseconds{0});
}

std::optional<ChildEnd> ContainedChild::wait(milliseconds most) {
  const auto until = steady_clock::now() + most;
  while (pid_ != 0) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_ || (got < 0 && errno == ECHILD)) {
      end_ = got < 0               ? ChildEnd{.exit_code = 1, .signal = 0}
             : WIFSIGNALED(status) ? ChildEnd{.exit_code = -1, .signal = WTERMSIG(status)}
                                   : ChildEnd{.exit_code = WEXITSTATUS(status), .signal = 0};
      ::kill(-pid_, SIGKILL);  // what it left behind in its group
      pid_ = 0;
      end_orphans();
      break;
    }
    if (steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(kPoll);
  }
  return end_;
}

void ContainedChild::signal(int number) const {
  if (pid_ != 0) ::kill(-pid_, number);
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
