#include "tui/rescue.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace pyrometer::tui {
namespace {

// What signal handlers go by.
std::array<char, 1024> reset_text{};
std::size_t reset_length = 0;
termios settings{};
volatile std::sig_atomic_t is_armed = 0;
std::array<int, 2> wake_pipe = {-1, -1};
volatile std::sig_atomic_t is_resized = 0;
volatile std::sig_atomic_t is_to_stop = 0;

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kCrashing = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void restore() {
  if (is_armed == 0) return;
  is_armed = 0;
  // A terminal that takes nothing (Ctrl-S) must not keep the process.
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0) {
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, reset_text.data(), reset_length);
  }
  ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

void end(int) {
  restore();
  ::_exit(0);
}

void crash(int number) {
  restore();
  // The handler is gone (SA_RESETHAND): this does what would have been done without it.
  ::raise(number);
}

void wake() {
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], "!", 1);
  errno = error;
}

void on_resize(int) {
  is_resized = 1;
  wake();
}

void on_stop(int) {
  is_to_stop = 1;
  wake();
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  struct sigaction before {};
  ::sigaction(number, &action, &before);
  // nohup and background jobs of a shell: what they ignore stays ignored.
  if (before.sa_handler == SIG_IGN) ::sigaction(number, &before, nullptr);
}

}  // namespace

void arm_rescue(std::string_view reset, const termios& before) {
  reset_length = std::min(reset.size(), reset_text.size());
  std::memcpy(reset_text.data(), reset.data(), reset_length);
  settings = before;
  is_armed = 1;
  for (const int number : kEnding) handle(number, end, 0);
  for (const int number : kCrashing) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    // A sanitizer's own handler tells more.
    if (now.sa_handler == SIG_DFL) handle(number, crash, static_cast<int>(SA_RESETHAND));
  }
}

void disarm_rescue() { is_armed = 0; }

int open_signal_pipe() {
  if (::pipe2(wake_pipe.data(), O_NONBLOCK | O_CLOEXEC) != 0) return -1;
  handle(SIGWINCH, on_resize, SA_RESTART);
  handle(SIGTSTP, on_stop, SA_RESTART);
  return wake_pipe[0];
}

Told take_signals() {
  std::array<char, 64> bytes{};
  while (::read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
  }
  Told told{.resized = is_resized != 0, .stop = is_to_stop != 0};
  is_resized = 0;
  is_to_stop = 0;
  return told;
}

void stop_here() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  struct sigaction ours {};
  ::sigaction(SIGTSTP, &usual, &ours);
  ::raise(SIGTSTP);
  ::sigaction(SIGTSTP, &ours, nullptr);
}

}  // namespace pyrometer::tui
