// What is recorded: everything, once, with its times; and what is said of that which is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>

#include "tests/inject/recorded_run.h"

namespace pyrometer::tests {
namespace {

using ring::CaptureReason;
using ring::RecordType;
using ring::WriterState;

std::vector<Truth> without_query(std::vector<Truth> truth) {
  std::erase_if(truth, [](const Truth& t) { return t.name == "cudaGetDevice"; });
  return truth;
}

constexpr char kTraining[] =
    "repeat 200; copy h2d 4096 pageable 5; copy h2d 8192 pinned 5; memset 64 2; kernel gemm 10 7;"
    "kernel a_long_kernel_name_that_takes_more_than_one_slot_of_the_ring_to_be_defined 3 8; query;"
    "driver_kernel triton 4 7; graph captured 3 2 7; copy d2h 4 pinned 1; copy p2p 77 pinned 1;"
    "copy d2d 5 pinned 1; sync 7; malloc 100; end; sync";

TEST(Capture, EverythingOnceWithExactTimes) {
  for (const char* gpu : {"gpu13", "gpu12"}) {
    RecordedRun run({.gpu = gpu});
    const pid_t pid = run.start(kTraining);
    ASSERT_EQ(run.finish(pid), 0) << run.output();
    RingSeen& seen = run.ring(pid);
    EXPECT_EQ(as_truth(seen.log, pid), without_query(run.truth(pid))) << gpu;
    EXPECT_EQ(seen.log.undefined_names, 0U);
    EXPECT_EQ(seen.log.losses.size(), 0U);
    EXPECT_EQ(run.output(), "");
    // gemm, a graph's kernel, copies, a memset: what the log does not hold.
    ASSERT_FALSE(seen.log.kernels.empty());
    for (const ring::ActivityBody& kernel : seen.log.kernels) {
      ASSERT_EQ(kernel.graph != 0, seen.log.name(kernel.kernel.name) == "captured");
      ASSERT_EQ(kernel.kernel.config, 1U);
    }
    ASSERT_EQ(seen.log.configs.size(), 1U);
    EXPECT_EQ(seen.log.configs[0].grid[0], 64U);
    EXPECT_EQ(seen.log.configs[0].block[0], 256U);
    EXPECT_EQ(seen.log.configs[0].static_shared_bytes, 1024U);
    EXPECT_EQ(seen.log.configs[0].dynamic_shared_bytes, 2048U);
    EXPECT_EQ(seen.log.configs[0].registers_per_thread, 32);
    EXPECT_EQ(seen.log.copies.front().memory_kinds, 0x31);
    EXPECT_EQ(seen.log.memsets.front().memory_kinds, 0x30);
  }
}

TEST(Capture, SaysWhatItRunsOn) {
  RecordedRun run({.stub_options = "devices=2"});
  const pid_t pid = run.start("kernel a 1 0; sleep 50");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  RingSeen& seen = run.ring(pid);
  EXPECT_EQ(seen.reader.cupti_version(), 130001U);
  EXPECT_EQ(seen.log.info("cupti.version"), "130001");
  EXPECT_EQ(seen.log.info("cuda.driver_version"), "13.0");
  EXPECT_EQ(seen.log.info("gpu.0.name"), "Pyrometer Test GPU");
  EXPECT_EQ(seen.log.info("gpu.1.uuid"), "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
  EXPECT_EQ(seen.log.info("gpu.1.pci"), "00000000:1c:00.0");
  EXPECT_EQ(seen.log.info("gpu.0.total_memory_bytes"), "85899345920");
  EXPECT_EQ(seen.log.info("gpu.0.sm_count"), "132");
  EXPECT_EQ(seen.log.info("gpu.0.compute_capability"), "9.0");
  EXPECT_EQ(seen.log.info("capture.api_calls"), "launch, copy, sync, memory");
  EXPECT_GT(seen.reader.own_cpu_ns(), 0U);
  ASSERT_EQ(seen.log.captures.size(), 2U);
  EXPECT_EQ(seen.log.captures[0].on, 1U);
  EXPECT_EQ(seen.log.captures[0].reason, CaptureReason::kStarted);
  EXPECT_EQ(seen.log.captures[1].on, 0U);
  EXPECT_EQ(seen.log.captures[1].reason, CaptureReason::kProcessEnds);
  EXPECT_EQ(seen.reader.state(), WriterState::kInert);
}

TEST(Capture, ManyThreadsLaunch) {
  RecordedRun run;
  std::string script;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    script += "thread; repeat 2000; kernel k" + n + " 1 " + n + "; end; sync " + n + "; end;";
  }
  const pid_t pid = run.start(script + "join");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  EXPECT_EQ(as_truth(run.ring(pid).log, pid), run.truth(pid));
}

TEST(Capture, AnotherClockIsConverted) {
  RecordedRun run({.stub_options = "no_clock"});
  const pid_t pid = run.start("repeat 50; kernel a 10 0; sync; end");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const auto recorded = as_truth(run.ring(pid).log, pid);
  const auto truth = run.truth(pid);
  ASSERT_EQ(recorded.size(), truth.size());
  constexpr double kTolerance = 200e3;  // ns; tests share their machine
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(recorded[i].correlation, truth[i].correlation);
    EXPECT_NEAR(static_cast<double>(recorded[i].start), static_cast<double>(truth[i].start),
                kTolerance);
  }
}

TEST(Capture, OverflowIsCountedByType) {
  RecordedRun run({.stub_options = "fast", .environment = {{"PYROMETER_RING_SLOTS", "1024"}}});
  const pid_t pid =
      run.start("repeat 3000; kernel a 1 0; copy h2d 1 pinned 1; memset 1 1; end; sync");
  ASSERT_EQ(run.wait_unread(pid), 0) << run.output();
  run.poll();
  RingSeen& seen = run.ring(pid);
  const auto dropped = seen.reader.dropped();
  const auto count = [&](RecordType type) { return dropped[static_cast<std::size_t>(type)]; };
  EXPECT_GT(count(RecordType::kKernel), 0U);
  EXPECT_EQ(seen.log.kernels.size() + count(RecordType::kKernel), 3000U);
  EXPECT_EQ(seen.log.copies.size() + count(RecordType::kCopy), 3000U);
  EXPECT_EQ(seen.log.memsets.size() + count(RecordType::kMemset), 3000U);
  EXPECT_EQ(seen.log.api_calls.size() + count(RecordType::kApiCall), 9001U);
  EXPECT_EQ(seen.log.undefined_names, 0U);
}

TEST(Capture, LossesAreReported) {
  RecordedRun run;
  const pid_t pid = run.start(
      "drop 7; repeat 50; kernel a 1 0; end; lost 3; repeat 5; kernel b 1 0;"
      "end; sync; sleep 30");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const ring::LossBody& loss : run.ring(pid).log.losses) {
    lost[loss.type] += loss.count;
  }
  EXPECT_EQ(lost, (std::map<std::uint32_t, std::uint64_t>{{0, 7}, {3, 3}}));
}

TEST(Capture, DutyCycle) {
  RecordedRun run;
  const pid_t pid = run.start("print ready; repeat 600; kernel a 10 0; sync; sleep 1; end");
  const auto state = [&] {
    return run.rings(pid).empty() ? WriterState::kStarting : run.ring(pid).reader.state();
  };
  const auto kernels = [&] { return run.ring(pid).log.kernels.size(); };
  ASSERT_TRUE(run.poll_until([&] { return state() == WriterState::kCapturing && kernels() > 20; }));
  for (int cycle = 0; cycle < 2; ++cycle) {
    run.ring(pid).reader.set_control(ring::kControlCaptureOff);
    ASSERT_TRUE(run.poll_until([&] { return state() == WriterState::kPaused; }));
    const auto truth = run.truth(pid).size();
    ASSERT_TRUE(run.poll_until([&] { return run.truth(pid).size() > truth + 60; }));
    run.ring(pid).reader.set_control(0);
    ASSERT_TRUE(run.poll_until([&] { return state() == WriterState::kCapturing; }));
    const auto seen = kernels();
    ASSERT_TRUE(run.poll_until([&] { return kernels() > seen + 20; }));
  }
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  ASSERT_EQ(log.captures.size(), 6U);
  // On at [0], off at [1], on at [2] …: exactly the kernels launched while it was on are there,
  // those launched while it was being switched may be.
  const auto recorded = as_truth(log, pid);
  std::size_t missing = 0;
  constexpr std::uint64_t kSwitching = 20'000'000;
  for (const Truth& call : run.truth(pid, "call")) {
    bool inside = false;
    bool outside = false;
    for (std::size_t i = 0; i < log.captures.size(); ++i) {
      const std::uint64_t from = log.captures[i].time;
      const std::uint64_t to = i + 1 < log.captures.size() ? log.captures[i + 1].time : ~0ULL;
      inside = inside || (log.captures[i].on != 0 && call.start > from && call.end < to);
      outside = outside || (log.captures[i].on == 0 && call.start > from + kSwitching &&
                            call.end + kSwitching < to);
    }
    const bool found = std::binary_search(recorded.begin(), recorded.end(), call);
    EXPECT_TRUE(!inside || found) << call.name << " at " << call.start;
    EXPECT_TRUE(!outside || !found) << call.name << " at " << call.start;
    missing += found ? 0 : 1;
  }
  EXPECT_GT(missing, 60U);
}

TEST(Capture, YieldsToAProfilerAndComesBack) {
  RecordedRun run;
  const pid_t pid = run.start(
      "repeat 20; kernel before 100 0; end; yield; active 1; repeat 20; kernel during 1 0; end;"
      "sync; resume; repeat 20; kernel after 1 0; end; sync");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  std::map<std::string, int> counts;
  for (const ring::ActivityBody& kernel : log.kernels) {
    ++counts[log.name(kernel.kernel.name)];
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"before", 20}, {"after", 20}}));
  ASSERT_EQ(log.captures.size(), 4U);
  EXPECT_EQ(log.captures[1].reason, CaptureReason::kProfilerStarted);
  EXPECT_EQ(log.captures[1].on, 0U);
  EXPECT_EQ(log.captures[2].reason, CaptureReason::kProfilerEnded);
  EXPECT_EQ(log.captures[2].on, 1U);
}

// With CUPTI a switch in the middle of a call spoils the calling thread's records for good.
TEST(Capture, DutyCycleSwitchesBetweenSteps) {
  RecordedRun run;
  const pid_t pid = run.start(
      "print ready; steps 1500 32; repeat 5; kernel a 10 0; end; copy d2h 4 pageable 100; sync; "
      "end");
  const auto state = [&] {
    return run.rings(pid).empty() ? WriterState::kStarting : run.ring(pid).reader.state();
  };
  ASSERT_TRUE(run.poll_until([&] { return state() == WriterState::kCapturing; }));
  for (int cycle = 0; cycle < 40; ++cycle) {
    const bool off = cycle % 2 == 0;
    const auto ranges = run.ring(pid).log.ranges.size();
    run.ring(pid).reader.set_control(off ? ring::kControlCaptureOff : 0U);
    ASSERT_TRUE(run.poll_until([&] {
      return state() == (off ? WriterState::kPaused : WriterState::kCapturing) &&
             run.ring(pid).log.ranges.size() > ranges;
    })) << cycle;
  }
  run.ring(pid).reader.set_control(0);
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  ASSERT_GE(log.captures.size(), 41U);
  for (std::size_t i = 1; i + 1 < log.captures.size(); ++i) {
    const std::uint64_t time = log.captures[i].time;
    for (const ring::RangeBody& step : log.ranges) {
      EXPECT_FALSE(time > step.start && time < step.end) << "in step " << step.a;
    }
  }
}

TEST(Capture, SeesApiCallsAfterAProfilerHadThemAll) {
  RecordedRun run;
  const pid_t pid = run.start(
      "repeat 20; kernel before 100 0; end; yield; profiler_calls; resume;"
      "repeat 20; kernel after 1 0; query; end; sync");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  ASSERT_EQ(log.captures.size(), 4U);
  std::set<std::uint32_t> launched;
  std::set<std::string> names;
  for (const ring::ApiCallBody& call : log.api_calls) {
    launched.insert(call.correlation);
    names.insert(log.name(call.name));
  }
  for (const ring::ActivityBody& kernel : log.kernels) {
    EXPECT_TRUE(launched.count(kernel.correlation) == 1) << log.name(kernel.kernel.name);
  }
  EXPECT_EQ(log.kernels.size(), 40U);
  EXPECT_EQ(names.count("cudaGetDevice"), 0U);
}

TEST(Capture, LateAttach) {
  RecordedRun run({.inject = false});
  const pid_t pid =
      run.start("repeat 10; kernel early 1 0; end; late; repeat 10; kernel late 1 0; end; sync");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  EXPECT_EQ(log.kernels.size(), 10U);
  EXPECT_EQ(log.name(log.kernels.at(0).kernel.name), "late");
}

TEST(Capture, HookRecordsOfAProcessWithoutGpu) {
  RecordedRun run;
  const pid_t pid = run.start(
      "noinit; active 0; attach 0; attach 0; active 1; range step; counter memory 1.5;"
      "name_range many 100; control 0; sleep 20");
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  RingSeen& seen = run.ring(pid);
  EXPECT_EQ(seen.log.ranges.size(), 101U);
  EXPECT_EQ(seen.log.name(seen.log.ranges.at(0).name), "step");
  EXPECT_EQ(seen.log.name(seen.log.ranges.at(100).name), "many99");
  ASSERT_EQ(seen.log.counters.size(), 1U);
  EXPECT_EQ(seen.log.counters[0].value, 1.5);
  EXPECT_EQ(seen.log.captures.size(), 0U);
}

}  // namespace
}  // namespace pyrometer::tests
