#include "monitor/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "monitor/environment.h"
#include "monitor/group_witness.h"
#include "ring/process_stat.h"

namespace pyrometer::monitor {
namespace {

// Written by the handler: which signals came from another process and wait to be passed on.
constexpr int kSignals = 65;
std::atomic<bool> pending[kSignals];
int wake_pipe[2] = {-1, -1};
GroupWitness witness;

constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH,
                             SIGCONT, SIGCHLD,
                             // The terminal's stops: the child may stop by them, and then so do we
                             // (stop_with). By ourselves we could stop after a shell's `fg`.
                             SIGTSTP, SIGTTIN, SIGTTOU};

void on_signal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  // What the kernel sends (terminal, job control) goes to the whole group: the child has it.
  const bool from_process = info != nullptr && info->si_code <= 0;
  if (signal != SIGCHLD && signal != SIGCONT && from_process) {
    pending[signal].store(true, std::memory_order_relaxed);
  }
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], &byte, 1);
  errno = saved;
}

base::Result<void> catch_signals() {
  if (wake_pipe[0] < 0 && ::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    return base::fail({.kind = base::ErrorKind::kResource,
                       .message = std::string("cannot make a pipe: ") + std::strerror(errno)});
  }
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : kPassedOn) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    // What our parent had ignored (nohup) stays ignored, for the child as well.
    if ((old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_IGN && signal != SIGCHLD)
      continue;
    // Writing from the background shall fail, not be tried again for ever.
    action.sa_flags = SA_SIGINFO | (signal == SIGTTOU ? 0 : SA_RESTART);
    ::sigaction(signal, &action, nullptr);
  }
  return {};
}

// In the child, between fork and exec: only async-signal-safe calls.
void run_child(const std::vector<char*>& arguments, const std::vector<char*>& environment,
               const struct sigaction* dispositions, int report) {
  for (std::size_t i = 0; i < std::size(kPassedOn); ++i) {
    ::sigaction(kPassedOn[i], &dispositions[i], nullptr);
  }
  ::execvpe(arguments[0], arguments.data(), environment.data());
  const int why = errno;
  [[maybe_unused]] const auto written = ::write(report, &why, sizeof why);
  ::_exit(127);
}

// A signal that went to the whole group has reached the child already. A second one might mean
// something else to it (save at the first, give up at the second).
void pass_signals_on(pid_t child) {
  bool any = false;
  for (const auto& one : pending) any = any || one.load(std::memory_order_relaxed);
  if (!any) return;
  constexpr timespec kUntilAllHaveIt{.tv_sec = 0, .tv_nsec = 20'000'000};
  ::nanosleep(&kUntilAllHaveIt, nullptr);
  for (int signal = 1; signal < kSignals; ++signal) {
    if (!pending[signal].exchange(false, std::memory_order_relaxed)) continue;
    if (!witness.saw(signal)) ::kill(child, signal);
  }
}

// The child has ended: from here on the terminal may stop us as it stops others.
void stop_watching() {
  witness.stop();
  for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0) ::signal(signal, SIG_DFL);
  }
}

bool is_stopped(pid_t pid) {
  ring::ProcessStat stat;
  return ring::read_process_stat(static_cast<std::uint32_t>(pid), &stat) &&
         (stat.state == 'T' || stat.state == 't');
}

// The child has stopped. The shell watches the monitor: it stops as well, and wakes the child when
// it is woken. A helper wakes the monitor if the child is woken by somebody else (or is killed):
// nobody would ever reap it otherwise.
void stop_with(pid_t child) {
  const pid_t monitor = ::getpid();
  const pid_t helper = ::fork();
  if (helper == 0) {
    // Only async-signal-safe calls: other threads may have held locks. Out of the process group, so
    // that the terminal's signals leave it alone.
    ::setsid();
    constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 20'000'000};
    while (::getppid() == monitor && is_stopped(child)) ::nanosleep(&kPause, nullptr);
    if (::getppid() == monitor) ::kill(monitor, SIGCONT);
    ::_exit(0);
  }
  if (helper < 0) return;
  ::raise(SIGSTOP);
  ::kill(child, SIGCONT);
  ::kill(helper, SIGKILL);
  ::waitpid(helper, nullptr, 0);
}

base::Error start_error(const std::string& program, int why) {
  const bool missing = why == ENOENT || why == ENOTDIR;
  return {.kind = missing         ? base::ErrorKind::kNotFound
                  : why == EACCES ? base::ErrorKind::kPermission
                                  : base::ErrorKind::kResource,
          .message = "cannot run " + program + ": " + std::strerror(why),
          .file = "",
          .advice = missing ? "Check the name, or give the path" : ""};
}

}  // namespace

base::Result<Child> Child::start(const std::vector<std::string>& command,
                                 const std::vector<std::string>& environment) {
  struct sigaction before[std::size(kPassedOn)];
  for (std::size_t i = 0; i < std::size(kPassedOn); ++i) {
    ::sigaction(kPassedOn[i], nullptr, &before[i]);
  }
  if (auto caught = catch_signals(); !caught) return base::fail(caught.error());
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    return base::fail({.kind = base::ErrorKind::kResource,
                       .message = std::string("cannot make a pipe: ") + std::strerror(errno)});
  }
  const std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argv = exec_pointers(command);
  const std::vector<char*> envp = exec_pointers(variables);
  const pid_t pid = ::fork();
  if (pid == 0) run_child(argv, envp, before, report[1]);
  const int fork_error = errno;
  ::close(report[1]);
  int why = 0;
  ssize_t got = 0;
  if (pid > 0) {
    do {
      got = ::read(report[0], &why, sizeof why);
    } while (got < 0 && errno == EINTR);
  }
  ::close(report[0]);
  if (pid < 0) return base::fail(start_error(command[0], fork_error));
  if (got == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(pid, nullptr, 0);
    return base::fail(start_error(command[0], why));
  }
  witness.start();
  return Child(pid);
}

std::optional<ChildEnd> Child::wait(int milliseconds) {
  pollfd wake{.fd = wake_pipe[0], .events = POLLIN, .revents = 0};
  if (::poll(&wake, 1, milliseconds) > 0) {
    char bytes[64];
    while (::read(wake_pipe[0], bytes, sizeof bytes) > 0) {
    }
  }
  pass_signals_on(pid_);
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG | WUNTRACED);
  if (got < 0 && errno == ECHILD) {
    stop_watching();
    return ChildEnd{.exit_code = 1, .signal = 0};
  }
  if (got != pid_) return std::nullopt;
  if (WIFSTOPPED(status)) {
    stop_with(pid_);
    return std::nullopt;
  }
  stop_watching();
  if (WIFSIGNALED(status)) return ChildEnd{.exit_code = -1, .signal = WTERMSIG(status)};
  return ChildEnd{.exit_code = WEXITSTATUS(status), .signal = 0};
}

void end_like(const ChildEnd& end) {
  if (end.signal == 0) std::_Exit(end.exit_code);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(end.signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, end.signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(end.signal);
  std::_Exit(128 + end.signal);
}

}  // namespace pyrometer::monitor
