#include "monitor/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

namespace pyrometer::monitor {
namespace {

constexpr int kGraceMs = 2000;

// All but these two and the standard ones: what we hold open, such as a pipe that somebody reads to
// its end, must not stay open for the guardian's sake.
void close_others(int one, int other) {
  const auto low = static_cast<unsigned>(one < other ? one : other);
  const auto high = static_cast<unsigned>(one < other ? other : one);
  if (low > 3) ::close_range(3, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, UINT_MAX, 0);
}

[[noreturn]] void become(const GuardianTask& task, int report, const sigset_t& mask, pid_t parent) {
  ::setpgid(0, 0);
  // Should the guardian be killed, the command is told to end as well.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::dup2(task.log, STDOUT_FILENO);
  ::dup2(task.log, STDERR_FILENO);
  if (*task.folder == 0 || ::chdir(task.folder) == 0) {
    ::execvpe(task.words[0], task.words.data(), task.environment.data());
  }
  const int why = errno;
  [[maybe_unused]] const auto written = ::write(report, &why, sizeof why);
  ::_exit(127);
}

// Starts the command. `error` is 0 where it runs.
GuardianReport start(const GuardianTask& task, const sigset_t& mask) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return {.error = errno};
  const pid_t guardian = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(task, report[1], mask, guardian);
  const int fork_error = errno;
  ::close(report[1]);
  GuardianReport out{.error = pid < 0 ? fork_error : 0, .command = pid};
  if (pid > 0) {
    ::setpgid(pid, pid);  // as the child does: whoever is first
    int why = 0;
    ssize_t got = 0;
    do {
      got = ::read(report[0], &why, sizeof why);
    } while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof why)) {
      ::waitpid(pid, nullptr, 0);
      out.error = why;
    }
  }
  ::close(report[0]);
  return out;
}

// Ends the first children that the kernel lists. False: there are none.
bool end_some_children() {
  std::array<char, 4096> text{};
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  bool any = false;
  pid_t pid = 0;
  for (ssize_t i = 0; i < size; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (c >= '0' && c <= '9') {
      pid = pid * 10 + (c - '0');
    } else if (pid > 0) {  // a number that is cut off has no blank behind it
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      any = true;
      pid = 0;
    }
  }
  return any;
}

void end_orphans() {
  constexpr int kRounds = 1000;  // each may leave children of its own
  for (int round = 0; round < kRounds && end_some_children(); ++round) {
  }
}

// Takes what has ended. True: the command is among it; its group has been ended then.
bool take_ended(pid_t command, int& status) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      return false;
    }
    // As long as it is not waited for, nobody else can have its number.
    if (info.si_pid == command) ::kill(-command, SIGKILL);
    int ended = 0;
    ::waitpid(info.si_pid, &ended, 0);
    if (info.si_pid == command) {
      status = ended;
      return true;
    }
  }
}

}  // namespace

void guard(const GuardianTask& given) {
  // Whoever starts us with a standard file closed has these in its place.
  constexpr int kFirst = 3;
  GuardianTask task = given;
  task.log = ::fcntl(given.log, F_DUPFD_CLOEXEC, kFirst);
  task.line = ::fcntl(given.line, F_DUPFD_CLOEXEC, kFirst);
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "pyrometer-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  close_others(task.log, task.line);
  sigset_t mask, child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, &mask);
  const int ended = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  const GuardianReport report = start(task, mask);
  ::send(task.line, &report, sizeof report, MSG_NOSIGNAL);
  if (report.error != 0) ::_exit(1);
  int status = 0;
  bool alone = false;
  while (!take_ended(report.command, status)) {
    std::array<pollfd, 2> files = {pollfd{.fd = ended, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = task.line, .events = POLLIN, .revents = 0}};
    const int ready = ::poll(files.data(), alone ? 1 : 2, alone ? kGraceMs : -1);
    if (alone && ready == 0) ::kill(-report.command, SIGKILL);
    signalfd_siginfo drained;
    while (::read(ended, &drained, sizeof drained) > 0) {
    }
    if (alone || files[1].revents == 0) continue;
    unsigned char number = 0;
    const ssize_t got = ::recv(task.line, &number, sizeof number, MSG_DONTWAIT);
    if (got > 0) {
      ::kill(-report.command, number);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      alone = true;
      ::kill(-report.command, SIGTERM);
    }
  }
  end_orphans();
  ::send(task.line, &status, sizeof status, MSG_NOSIGNAL);
  ::_exit(0);
}

}  // namespace pyrometer::monitor
