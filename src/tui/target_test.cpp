#include "tui/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
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

// On a process that has given up root's rights, if it had them.
TEST(Target, SaysThatItIsNotPermitted) {
  constexpr unsigned kNobody = 65534;
  const auto try_it = [] {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    Target target;
    if (const std::string problem = target.aim(1, 0); !problem.empty()) {
      std::cerr << "aiming: " << problem;
      ::_exit(1);
    }
    std::cerr << target.send(SIGCONT);
    ::_exit(0);
  };
  EXPECT_EXIT(try_it(), ::testing::ExitedWithCode(0),
              "^not permitted: it is another user's process$");
}

}  // namespace
}  // namespace pyrometer::tui
