#include "tui/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>

#include "sources/procfs/process_usage.h"

namespace pyrometer::tui {
namespace {

int start_child() {
  const int pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  return pid;
}

int end_of(int pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

TEST(Target, SendsASignal) {
  const int pid = start_child();
  Target target;
  EXPECT_EQ(target.aim(pid, sources::start_ticks_of(pid)), "");
  EXPECT_EQ(target.send(SIGTERM), "");
  EXPECT_EQ(end_of(pid), SIGTERM);
  EXPECT_EQ(target.send(SIGTERM), "it has ended");
}

TEST(Target, SparesAnotherProcessOfTheSameNumber) {
  const int pid = start_child();
  Target target;
  EXPECT_EQ(target.aim(pid, sources::start_ticks_of(pid) + 1), "it has ended");
  EXPECT_EQ(target.send(SIGTERM), "it has ended");
  ::kill(pid, SIGKILL);
  EXPECT_EQ(end_of(pid), SIGKILL);
  EXPECT_EQ(target.aim(pid, 0), "it has ended");
}

// What a process without root's rights is told about `pid`; nothing where this machine lets even
// such a process signal it, as a container whose processes all are one user's does.
std::optional<std::string> told_without_rights(int pid) {
  constexpr unsigned kNobody = 65534;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return std::nullopt;
  const int child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(1);
    if (::kill(pid, 0) == 0 || errno != EPERM) ::_exit(1);
    Target target;
    std::string words = target.aim(pid, 0);
    // Not SIGCONT, which reaches every process of the same session.
    if (words.empty()) words = target.send(SIGTERM);
    const auto written = ::write(ends[1], words.data(), words.size());
    ::_exit(written == static_cast<ssize_t>(words.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<char, 256> buffer{};
  const auto got = ::read(ends[0], buffer.data(), buffer.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
}

TEST(Target, SaysThatItIsNotPermitted) {
  // Root's own child is another user's to a process that has given up root's rights.
  const bool root = ::geteuid() == 0;
  const int pid = root ? start_child() : 1;
  const auto told = told_without_rights(pid);
  if (root) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(end_of(pid), SIGKILL);
  }
  if (!told) GTEST_SKIP() << "no process here that another user may not signal";
  EXPECT_EQ(*told, "not permitted: it is another user's process");
}

}  // namespace
}  // namespace pyrometer::tui
