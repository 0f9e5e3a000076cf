// Processes that fork, exec, end in all ways, or are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "tests/inject/recorded_run.h"

namespace pyrometer::tests {
namespace {

bool is_subset(const std::vector<Truth>& part, const std::vector<Truth>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

bool has_duplicates(const std::vector<Truth>& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

TEST(Processes, AChildByForkIsInert) {
  RecordedRun run;
  const pid_t pid = run.start(
      "repeat 50; kernel parent 5 0; end;"
      "fork; active 0; attach 4; range child; kernel child 1 0; yield; resume; control 0; end;"
      "fork; exit 0; end;"
      "repeat 50; kernel parent 5 0; end; sync");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  EXPECT_EQ(run.ring_count(), 1U);
  EXPECT_EQ(as_truth(run.ring(pid).log, pid), run.truth(pid));
  EXPECT_EQ(run.ring(pid).log.ranges.size(), 0U);
}

TEST(Processes, AChildThatBringsUpCudaItselfIsRecorded) {
  RecordedRun run;
  const pid_t pid = run.start(
      "noinit; attach 0; range parent; fork; attach 4; init; attach 0; range child;"
      "kernel a 1 0; sync; exit 0; end; range parent");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  ASSERT_EQ(run.ring_count(), 2U);
  EXPECT_EQ(run.ring(pid).log.ranges.size(), 2U);
  EXPECT_EQ(run.ring(pid).log.kernels.size(), 0U);
}

TEST(Processes, AThousandForksCostNothing) {
  RecordedRun run;
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = run.start("kernel a 1 0; repeat 1000; fork; end; end; kernel a 1 0; sync");
  ASSERT_EQ(run.finish(pid, 120'000), 0) << run.output();
  EXPECT_EQ(run.ring_count(), 1U);
  EXPECT_EQ(run.ring(pid).log.kernels.size(), 2U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Processes, ExecStartsANewRing) {
  RecordedRun run;
  const pid_t pid = run.start("kernel first 1 0; sync; sleep 30; exec; kernel second 1 0; sync");
  ASSERT_EQ(run.wait_unread(pid), 0) << run.output();
  run.poll();
  const auto rings = run.rings(pid);
  ASSERT_EQ(rings.size(), 2U);
  std::set<std::string> kernels;
  for (const RingSeen* seen : rings) {
    ASSERT_EQ(seen->log.kernels.size(), 1U);
    kernels.insert(seen->log.name(seen->log.kernels[0].kernel.name));
  }
  EXPECT_EQ(kernels, (std::set<std::string>{"first", "second"}));
}

TEST(Processes, TwoAtOnce) {
  RecordedRun run;
  const pid_t one = run.start("repeat 500; kernel one 2 0; end; sync");
  const pid_t two = run.start("repeat 500; kernel two 2 0; end; sync");
  ASSERT_EQ(run.finish(one), 0) << run.output();
  ASSERT_EQ(run.finish(two), 0) << run.output();
  EXPECT_EQ(as_truth(run.ring(one).log, one), run.truth(one));
  EXPECT_EQ(as_truth(run.ring(two).log, two), run.truth(two));
}

// Ends that run exit handlers lose nothing; others lose what had not been flushed.
TEST(Processes, EveryEnd) {
  struct End {
    const char* how;
    int status;
    bool complete;
  };
  const std::vector<End> ends = {
      {"exit 3", 3 << 8, true},  {"quick_exit 4", 4 << 8, true}, {"_exit 5", 5 << 8, false},
      {"abort", SIGABRT, false}, {"segv", SIGSEGV, false},
  };
  for (const End& end : ends) {
    RecordedRun run;
    const pid_t pid = run.start(std::string("repeat 100; kernel a 5 0; end; sync; ") +
                                (end.complete ? "" : "sleep 100; ") + end.how);
    EXPECT_EQ(run.finish(pid), end.status) << end.how << run.output();
    EXPECT_EQ(as_truth(run.ring(pid).log, pid), run.truth(pid)) << end.how;
    EXPECT_EQ(run.output(), "") << end.how;
    EXPECT_TRUE(run.ring(pid).reader.writer_ended());
  }
}

TEST(Processes, EndsWhileThreadsLaunch) {
  for (const char* end : {"exit 0", "_exit 0", "quick_exit 0"}) {
    for (int round = 0; round < 5; ++round) {
      RecordedRun run;
      const pid_t pid = run.start(
          std::string(
              "thread; forever; kernel a 1 1; end; end; thread; forever; copy h2d 9 pinned 1;"
              "sync; end; end; sleep 30; ") +
          end);
      ASSERT_EQ(run.finish(pid), 0) << end << run.output();
      const auto recorded = as_truth(run.ring(pid).log, pid);
      EXPECT_GT(recorded.size(), 10U);
      EXPECT_FALSE(has_duplicates(recorded));
      EXPECT_TRUE(is_subset(recorded, run.truth(pid)));
    }
  }
}

TEST(Processes, AnExitDoesNotWaitForAHangingFlush) {
  RecordedRun run({.stub_options = "hang"});
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = run.start("kernel a 1 0; sync; sleep 30");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(took, std::chrono::milliseconds(1900));
  EXPECT_LT(took, std::chrono::seconds(8));
}

// And each once more without its name: a ring that was full had no room to define it, and counted
// that.
std::vector<Truth> with_nameless(std::vector<Truth> truth) {
  const std::size_t count = truth.size();
  for (std::size_t i = 0; i < count; ++i) {
    truth.push_back(truth[i]);
    truth.back().name.clear();
  }
  std::sort(truth.begin(), truth.end());
  return truth;
}

// Killed at any instant, while it is read: what is there is true, whole, and there once.
TEST(Processes, KilledAtAnyInstant) {
  std::mt19937 random(20261130);
  std::uint64_t records = 0;
  for (int round = 0; round < 200; ++round) {
    RecordedRun run(
        {.stub_options = "fast",
         .environment = {{"PYROMETER_RING_SLOTS", "4096"}, {"PYROMETER_FLUSH_MS", "1"}}});
    const pid_t pid = run.start(
        "thread; forever; kernel some_name_that_is_longer_than_one_slot_can_hold_for_sure 1 1; end;"
        "end; name_range a_range_with_a_name_of_its_own_that_is_also_a_long_one_ 100000000");
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(2'000 + random() % 30'000);
    while (std::chrono::steady_clock::now() < until) {
      run.poll();
    }
    ::kill(pid, SIGKILL);
    ASSERT_EQ(run.finish(pid), SIGKILL);
    if (run.rings(pid).empty()) {
      continue;  // it had not come that far
    }
    RingSeen& seen = run.ring(pid);
    EXPECT_TRUE(seen.reader.drained());
    EXPECT_EQ(seen.reader.counts().malformed, 0U);
    EXPECT_LT(seen.reader.counts().passed_over, 16U);
    const auto recorded = as_truth(seen.log, pid);
    ASSERT_FALSE(has_duplicates(recorded));
    const bool names_lost =
        seen.reader.dropped()[static_cast<std::size_t>(ring::RecordType::kString)] > 0;
    const auto truth = run.truth(pid);
    ASSERT_TRUE(is_subset(recorded, names_lost ? with_nameless(truth) : truth));
    EXPECT_EQ(seen.log.undefined_names, 0U);
    std::uint64_t last = 0;
    for (const ring::RangeBody& range : seen.log.ranges) {
      ASSERT_GE(range.start, last);
      ASSERT_EQ(range.a, 1);
      last = range.start;
    }
    records += seen.reader.counts().records;
  }
  EXPECT_GT(records, 2'000U);
}

}  // namespace
}  // namespace pyrometer::tests
