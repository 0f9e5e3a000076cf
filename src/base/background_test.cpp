#include "base/background.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>

namespace pyrometer::base {
namespace {

using namespace std::chrono_literals;

TEST(Background, WorksUntilItIsOver) {
  std::atomic<int> rounds = 0;
  std::atomic<bool> has_returned = false;
  {
    Background background;
    ASSERT_TRUE(background.start([&] {
      do ++rounds;
      while (!background.rest(1ms));
      has_returned = true;
    }));
    while (rounds < 3) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(has_returned);
}

TEST(Background, AnEndDoesNotWaitForTheRest) {
  Background background;
  ASSERT_TRUE(background.start([&] { EXPECT_TRUE(background.rest(1h)); }));
  background.stop();
  background.stop();
}

TEST(Background, EndsWithoutHavingBegun) { Background().stop(); }

TEST(Background, TakesNoSignalsButThoseOfACrash) {
  Background background;
  sigset_t blocked;
  ASSERT_TRUE(background.start([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }));
  background.stop();
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
  EXPECT_EQ(sigismember(&blocked, SIGWINCH), 1);
  EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
}

}  // namespace
}  // namespace pyrometer::base
