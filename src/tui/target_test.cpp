#include "tui/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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

TEST(Target, SaysThatItIsNotPermitted) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do it";
  Target target;
  EXPECT_EQ(target.aim(1, 0), "");
  EXPECT_EQ(target.send(SIGCONT), "not permitted: it is another user's process");
}

}  // namespace
}  // namespace pyrometer::tui
