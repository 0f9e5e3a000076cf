// When the library records no GPU, or nothing, and the program goes on all the same.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/inject/recorded_run.h"

namespace pyrometer::tests {
namespace {

using ring::CaptureReason;
using ring::WriterState;

constexpr char kWork[] = "range before; repeat 20; kernel a 1 0; end; sync; sleep 30";

struct Outcome {
  CaptureReason reason;
  WriterState state;
  std::size_t kernels;
  std::string refused;
};

// The program must end well and its hook's records arrive, whatever becomes of the GPU's.
Outcome outcome(RunOptions options, const std::string& script = kWork) {
  RecordedRun run(std::move(options));
  const pid_t pid = run.start(script + "; _exit 0");
  EXPECT_EQ(run.finish(pid), 0) << run.output();
  EXPECT_EQ(run.output(), "");
  RingSeen& seen = run.ring(pid);
  EXPECT_EQ(seen.log.ranges.size(), 1U);
  return {seen.reader.state_reason(), seen.reader.state(), seen.log.kernels.size(),
          seen.log.info("capture.refused")};
}

// Of a process without room for a ring.
bool holds_only_a_mark(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  return files.size() == 1 && files[0].extension() == ".noroom" &&
         std::filesystem::is_empty(files[0]);
}

TEST(Inert, AnotherClientHoldsCupti) {
  const Outcome seen = outcome({.stub_options = "held"});
  EXPECT_EQ(seen.reason, CaptureReason::kClientHoldsCupti);
  EXPECT_EQ(seen.state, WriterState::kNoGpu);
  EXPECT_EQ(seen.kernels, 0U);
  EXPECT_EQ(seen.refused, "another profiler holds CUPTI");
}

TEST(Inert, KinetoDaemon) {
  const Outcome seen = outcome({.environment = {{"KINETO_USE_DAEMON", "1"}}});
  EXPECT_EQ(seen.reason, CaptureReason::kClientHoldsCupti);
  EXPECT_EQ(seen.kernels, 0U);
}

TEST(Inert, CuptiFails) {
  const Outcome seen = outcome({.stub_options = "dead"});
  EXPECT_EQ(seen.reason, CaptureReason::kCuptiError);
  EXPECT_EQ(seen.refused, "cuptiSubscribe failed with error 999");
}

TEST(Inert, NoCupti) {
  const Outcome seen =
      outcome({.gpu = "gpu_bare", .environment = {{"PYROMETER_CUPTI", "/nowhere/libcupti.so"}}});
  EXPECT_EQ(seen.reason, CaptureReason::kNoCupti);
  EXPECT_EQ(seen.state, WriterState::kNoGpu);
}

TEST(Inert, VersionOutOfReach) {
  for (const char* version : {"version=12", "version=99999"}) {
    const Outcome seen = outcome({.stub_options = version});
    EXPECT_EQ(seen.reason, CaptureReason::kUnsupportedCupti) << version;
    EXPECT_EQ(seen.kernels, 0U);
  }
}

TEST(Inert, UnknownLayoutIsRefused) {
  const Outcome seen = outcome({.stub_options = "layout=bad"});
  EXPECT_EQ(seen.reason, CaptureReason::kUnsupportedCupti);
  EXPECT_EQ(seen.state, WriterState::kNoGpu);
  EXPECT_EQ(seen.kernels, 0U);
  EXPECT_NE(seen.refused, "");
}

TEST(Inert, AVersionToComeIsTriedAndFoundSound) {
  const Outcome seen = outcome({.stub_options = "version=140000"});
  EXPECT_EQ(seen.state, WriterState::kCapturing);
  EXPECT_EQ(seen.kernels, 20U);
}

TEST(Inert, TheFirstCuda13IsNeverFlushedNorSwitchedOff) {
  RecordedRun run({.stub_options = "version=130000,hang,fast"});
  const pid_t pid = run.start("repeat 5000; kernel a 1 0; end; sync; sleep 50");
  ASSERT_TRUE(run.poll_until([&] { return !run.rings(pid).empty(); }));
  run.ring(pid).reader.set_control(ring::kControlCaptureOff);
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  const RecordLog& log = run.ring(pid).log;
  EXPECT_NE(log.info("capture.note"), "");
  EXPECT_EQ(log.info("capture.duty_cycle"), "refused: see capture.note");
  // Full buffers come; the last, not full, does not.
  EXPECT_GT(log.kernels.size(), 3000U);
  EXPECT_EQ(log.captures.size(), 1U);
}

TEST(Inert, ChainedInjectionRunsAndHasCupti) {
  RecordedRun run({.environment = {{"PYROMETER_CHAIN_INJECTION", PYROMETER_CHAINED_LIBRARY}}});
  const pid_t pid = run.start(kWork);
  ASSERT_EQ(run.finish(pid), 0);
  EXPECT_EQ(run.output(), "chained\n");
  RingSeen& seen = run.ring(pid);
  EXPECT_EQ(seen.log.info("capture.refused"), "CUDA_INJECTION64_PATH was set already");
  EXPECT_EQ(seen.log.kernels.size(), 0U);
  EXPECT_EQ(seen.log.ranges.size(), 1U);
}

TEST(Inert, ChainedInjectionThatIsNotThereOrIsOurs) {
  for (const std::string& path : {std::string("/nowhere.so"), RecordedRun::library()}) {
    RecordedRun run({.environment = {{"PYROMETER_CHAIN_INJECTION", path}}});
    EXPECT_EQ(run.run(kWork), 0) << run.output();
  }
}

TEST(Inert, NoSession) {
  RecordedRun run({.environment = {{ring::kSessionVariable, ""}}});
  EXPECT_EQ(run.run("kernel a 1 0; attach 1; active 0; range x; yield; resume; control 0; sync"), 0)
      << run.output();
  EXPECT_EQ(run.ring_count(), 0U);
}

TEST(Inert, TheSessionIsOver) {
  RecordedRun run({.environment = {{ring::kSessionVariable, "/dev/shm/pyrometer-not-there"}}});
  EXPECT_EQ(run.run("kernel a 1 0; attach 2; active 0; sync"), 0) << run.output();
}

TEST(Inert, AFileLimitLeavesNoRoom) {
  RecordedRun run({.file_limit_bytes = 1 << 20});
  EXPECT_EQ(run.run("kernel a 1 0; attach 3; active 0; sync"), 0) << run.output();
  EXPECT_TRUE(holds_only_a_mark(run.session()));
}

TEST(Inert, AFullFileSystemLeavesNoRoom) {
  RingFolder folder;
  const std::string mounted = folder.path() + "/full";
  std::filesystem::create_directory(mounted);
  if (::mount("none", mounted.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "may not mount a small file system here";
  }
  {
    RecordedRun run({.environment = {{ring::kSessionVariable, mounted}}});
    EXPECT_EQ(run.run("kernel a 1 0; attach 3; active 0; sync"), 0) << run.output();
    EXPECT_TRUE(holds_only_a_mark(mounted));
  }
  ::umount(mounted.c_str());
}

TEST(Inert, TheMonitorDies) {
  RecordedRun run;
  const pid_t pid = run.start("print ready; repeat 5000; kernel a 10 0; sync; sleep 1; end");
  // The monitor: another process, which reads a little and is gone.
  RingFolder unused;
  std::string file;
  for (int i = 0; i < 5000 && file.empty(); ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(run.session())) {
      if (entry.path().filename().string().front() != '.') {
        file = entry.path();
      }
    }
    ::usleep(1000);
  }
  ASSERT_NE(file, "");
  const pid_t monitor = ::fork();
  if (monitor == 0) {
    auto reader = ring::Reader::open(file);
    ::usleep(100'000);
    ::_exit(reader ? 0 : 1);
  }
  int status = 0;
  ::waitpid(monitor, &status, 0);
  ASSERT_EQ(status, 0);
  // Reading again, as a tool does that looks at what is left, must not bring it back. The reader
  // that opens now says who it is; the process has seen by then that the other one died.
  ::usleep(300'000);
  ASSERT_TRUE(run.poll_until([&] { return run.ring(pid).reader.state() == WriterState::kInert; }));
  EXPECT_EQ(run.ring(pid).reader.state_reason(), CaptureReason::kMonitorGone);
  const auto& captures = run.ring(pid).log.captures;
  ASSERT_EQ(captures.size(), 2U);
  EXPECT_EQ(captures[1].reason, CaptureReason::kMonitorGone);
}

TEST(Inert, TheMonitorFallsSilent) {
  RecordedRun run;
  const pid_t pid = run.start("repeat 20000; kernel a 10 0; sync; sleep 1; end");
  ASSERT_TRUE(run.poll_until([&] { return run.rings(pid).size() == 1; }));
  run.set_beating(false);
  const auto silent_from = std::chrono::steady_clock::now();
  const auto inert = [&] { return run.ring(pid).reader.state() == WriterState::kInert; };
  while (!inert() && std::chrono::steady_clock::now() < silent_from + std::chrono::seconds(25)) {
    run.poll();
    ::usleep(10'000);
  }
  EXPECT_TRUE(inert());
  EXPECT_GT(std::chrono::steady_clock::now() - silent_from, std::chrono::seconds(9));
  EXPECT_EQ(run.ring(pid).reader.state_reason(), CaptureReason::kMonitorGone);
}

TEST(Inert, TheRecordingEnds) {
  RecordedRun run;
  const pid_t pid = run.start("repeat 300; kernel a 10 0; sync; sleep 1; end; active 0; attach 2");
  ASSERT_TRUE(run.poll_until(
      [&] { return run.rings(pid).size() == 1 && run.ring(pid).log.kernels.size() > 5; }));
  run.ring(pid).reader.set_control(ring::kControlEnd);
  ASSERT_EQ(run.finish(pid), 0) << run.output();
  RingSeen& seen = run.ring(pid);
  EXPECT_EQ(seen.reader.state(), WriterState::kInert);
  EXPECT_EQ(seen.reader.state_reason(), CaptureReason::kDisabled);
  EXPECT_LT(seen.log.kernels.size(), 300U);
}

TEST(Inert, Retired) {
  RecordedRun run;
  const pid_t pid = run.start("noinit; attach 0; range a; retire; active 0; range b; attach 1");
  ASSERT_EQ(run.wait_unread(pid), 0) << run.output();
  EXPECT_TRUE(std::filesystem::is_empty(run.session()));
}

}  // namespace
}  // namespace pyrometer::tests
