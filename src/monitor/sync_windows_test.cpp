#include "monitor/sync_windows.h"

#include <gtest/gtest.h>

namespace pyrometer::monitor {
namespace {

constexpr model::DurationNs kSecond = 1'000'000'000;

void train(SyncWindows& windows, int steps, int waits_per_step) {
  for (int i = 0; i < steps; ++i) {
    windows.add_call("cudaLaunchKernel");
    windows.add_call("cudaMemcpyAsync");
    for (int k = 0; k < waits_per_step; ++k) windows.add_call("cudaStreamSynchronize");
    windows.add_step();
  }
}

TEST(SyncWindows, OpensOnceThereAreWaitsAndClosesAfterSomeSteps) {
  SyncWindows windows(0);
  EXPECT_FALSE(windows.want_open(0, true));
  train(windows, 9, 1);
  EXPECT_FALSE(windows.want_open(kSecond, true));
  train(windows, 1, 1);
  EXPECT_TRUE(windows.want_open(2 * kSecond, true));
  train(windows, 100, 1);
  EXPECT_TRUE(windows.want_open(2 * kSecond + kSecond / 2, true));
  EXPECT_FALSE(windows.want_open(3 * kSecond, true));
}

TEST(SyncWindows, LeavesTheFirstSecondsAlone) {
  SyncWindows windows;
  train(windows, 1000, 1);
  EXPECT_FALSE(windows.want_open(kSecond, true));
  EXPECT_FALSE(windows.want_open(5 * kSecond / 2, true));
  EXPECT_TRUE(windows.want_open(3 * kSecond, true));
}

TEST(SyncWindows, LongStepsGetSomeSeconds) {
  SyncWindows windows(0);
  train(windows, 10, 1);
  EXPECT_TRUE(windows.want_open(kSecond, true));
  train(windows, 2, 1);
  EXPECT_TRUE(windows.want_open(5 * kSecond, true));
  EXPECT_FALSE(windows.want_open(6 * kSecond, true));
}

TEST(SyncWindows, IntervalsGrow) {
  SyncWindows windows(0);
  int opened = 0;
  bool open = false;
  for (int half = 0; half < 2 * 24 * 3600; ++half) {
    train(windows, 10, 1);
    const bool now = windows.want_open(half * kSecond / 2, true);
    opened += now && !open ? 1 : 0;
    open = now;
  }
  EXPECT_GE(opened, 20);
  EXPECT_LE(opened, 40);
}

TEST(SyncWindows, NoneWithoutWaitsOrOutsideOfWatchedTurns) {
  SyncWindows windows(0);
  train(windows, 1000, 0);
  EXPECT_FALSE(windows.want_open(kSecond, true));
  train(windows, 10'000, 1);
  EXPECT_FALSE(windows.want_open(2 * kSecond, false));
  EXPECT_TRUE(windows.want_open(3 * kSecond, true));
  // Its turn ends before enough was seen: it is made up for at once.
  train(windows, 3, 1);
  EXPECT_FALSE(windows.want_open(3 * kSecond + kSecond / 2, false));
  train(windows, 10, 1);
  EXPECT_TRUE(windows.want_open(5 * kSecond, true));
}

TEST(SyncWindows, KnowsWhatBlocks) {
  EXPECT_TRUE(is_blocking_call("cudaStreamSynchronize_v3020"));
  EXPECT_TRUE(is_blocking_call("cuCtxSynchronize"));
  EXPECT_TRUE(is_blocking_call("cudaMemcpy"));
  EXPECT_TRUE(is_blocking_call("cuMemcpyDtoH_v2"));
  EXPECT_FALSE(is_blocking_call("cudaMemcpyAsync"));
  EXPECT_FALSE(is_blocking_call("cudaLaunchKernel"));
}

}  // namespace
}  // namespace pyrometer::monitor
