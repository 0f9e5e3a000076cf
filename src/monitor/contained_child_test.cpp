#include "monitor/contained_child.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "monitor/interrupts.h"

namespace pyrometer::monitor {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Contained : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "contained-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] ContainedCommand shell(const std::string& script) const {
    return {.words = {"sh", "-c", script}, .folder = folder_, .log = log()};
  }
  [[nodiscard]] std::string log() const { return folder_ + "/log"; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  [[nodiscard]] pid_t pid_in(const std::string& name) const {
    for (int i = 0; i < 500 && read(name).find('\n') == std::string::npos; ++i) {
      std::this_thread::sleep_for(milliseconds{10});
    }
    return std::atoi(read(name).c_str());
  }

  std::string folder_;
};

TEST_F(Contained, OutputAndExitCode) {
  ContainedCommand command = shell("echo out; echo err >&2; cat; echo $SAID; exit 7");
  command.environment = {"SAID=something"};
  auto child = ContainedChild::start(command);
  ASSERT_TRUE(child);
  const auto end = child->wait(milliseconds{10000});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 7);
  EXPECT_EQ(read("log"), "out\nerr\nsomething\n");
}

TEST_F(Contained, WhatCannotRun) {
  ContainedCommand command = shell("");
  command.words = {"no-such-program-here"};
  const auto missing = ContainedChild::start(command);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::ErrorKind::kNotFound);
  command = shell("true");
  command.log = folder_ + "/none/log";
  EXPECT_EQ(ContainedChild::start(command).error().kind, base::ErrorKind::kIo);
}

// A process that ignores SIGTERM, one in a session of its own that has lost its parent.
TEST_F(Contained, EndsWithAllThatItStarted) {
  auto child = ContainedChild::start(
      shell("setsid sh -c 'echo $$ > far; sleep 100' & trap '' TERM; sleep 100 & "
            "echo $! > near; wait; sleep 100"));
  ASSERT_TRUE(child);
  const pid_t far = pid_in("far");
  const pid_t near = pid_in("near");
  ASSERT_GT(far, 0);
  ASSERT_GT(near, 0);
  const auto start = steady_clock::now();
  const ChildEnd end = child->end(milliseconds{300});
  EXPECT_LT(steady_clock::now() - start, milliseconds{8000});
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_NE(::kill(near, 0), 0);
  EXPECT_NE(::kill(far, 0), 0);
}

TEST_F(Contained, LeavesNothingBehindWhenItEndsByItself) {
  auto child =
      ContainedChild::start(shell("setsid sh -c 'echo $$ > far; sleep 100' & "
                                  "until [ -s far ]; do sleep 0.01; done; exit 3"));
  ASSERT_TRUE(child);
  const pid_t far = pid_in("far");
  const auto end = child->wait(milliseconds{10000});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_NE(::kill(far, 0), 0);
}

// Whoever holds it is killed: nothing of it is left a little later.
TEST_F(Contained, EndsWithItsHolder) {
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto child = ContainedChild::start(
        shell("setsid sh -c 'echo $$ > far; sleep 100' & trap '' TERM; echo $$ > near; wait; "
              "sleep 100"));
    ::pause();
    ::_exit(child ? 0 : 1);
  }
  ASSERT_GT(holder, 0);
  const pid_t far = pid_in("far");
  const pid_t near = pid_in("near");
  ASSERT_GT(far, 0);
  ASSERT_GT(near, 0);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  const auto until = steady_clock::now() + milliseconds{20000};
  const auto lives = [](pid_t pid) { return ::kill(pid, 0) == 0; };
  while ((lives(far) || lives(near)) && steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds{20});
  }
  EXPECT_FALSE(lives(far));
  EXPECT_FALSE(lives(near));
}

TEST_F(Contained, SignalsReachItsGroup) {
  auto child =
      ContainedChild::start(shell("trap 'exit 9' USR1; echo 1 > ready; while :; do "
                                  "sleep 0.01; done"));
  ASSERT_TRUE(child);
  ASSERT_EQ(pid_in("ready"), 1);
  EXPECT_FALSE(child->wait(milliseconds{1}));
  child->signal(SIGUSR1);
  const auto end = child->wait(milliseconds{10000});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 9);
  EXPECT_EQ(child->wait(milliseconds{0})->exit_code, 9);  // remembered
}

TEST(Interrupts, AreNotedOnce) {
  Interrupts interrupts;
  EXPECT_EQ(Interrupts::signal(), 0);
  ::raise(SIGINT);
  ::raise(SIGTERM);
  EXPECT_EQ(Interrupts::signal(), SIGINT);
  EXPECT_EQ(Interrupts::count(), 2);
}

}  // namespace
}  // namespace pyrometer::monitor
