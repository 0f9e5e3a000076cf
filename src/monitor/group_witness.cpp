#include "monitor/group_witness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <new>

namespace pyrometer::monitor {

// After fork in a process with threads: only async-signal-safe calls.
void GroupWitness::watch(pid_t parent, Counts& counts) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
    // Whoever waits for the end of our output must not wait for this process.
#ifdef SYS_close_range
  const bool closed = ::syscall(SYS_close_range, 0U, std::numeric_limits<unsigned>::max(), 0U) == 0;
#else
  const bool closed = false;
#endif
  constexpr int kLikely = 1024;
  for (int fd = 0; !closed && fd < kLikely; ++fd) ::close(fd);
  sigset_t all;
  ::sigfillset(&all);
  for (;;) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&all, &info);
    // The terminal's go to all anyway: those are not passed on.
    if (signal > 0 && signal < kSignals && info.si_code <= 0) counts[signal].fetch_add(1);
  }
}

void GroupWitness::start() {
  void* memory =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  counts_ = new (memory) Counts{};
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) watch(parent, *counts_);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void GroupWitness::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (counts_ != nullptr) ::munmap(counts_, sizeof(Counts));
  pid_ = -1;
  counts_ = nullptr;
}

bool GroupWitness::saw(int signal) {
  if (pid_ <= 0 || signal <= 0 || signal >= kSignals) return false;
  const auto index = static_cast<std::size_t>(signal);
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 2'000'000};
  constexpr int kTries = 100;  // while it has the signal and has not come to count it
  for (int i = 0; i < kTries; ++i) {
    const bool pending = has_pending(signal);
    const std::uint32_t count = (*counts_)[index].load();
    if (count != told_[index]) {
      told_[index] = count;
      return true;
    }
    if (!pending && i > 0) return false;
    ::nanosleep(&kPause, nullptr);
  }
  return false;
}

bool GroupWitness::has_pending(int signal) const {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/status", static_cast<int>(pid_));
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[4096];
  const ssize_t length = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[length > 0 ? length : 0] = '\0';
  constexpr char kPending[] = "\nShdPnd:";
  const char* line = std::strstr(text, kPending);
  if (line == nullptr) return false;
  const std::uint64_t bits = std::strtoull(line + sizeof kPending - 1, nullptr, 16);
  return ((bits >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

}  // namespace pyrometer::monitor
