// What rules make of the machine's counters in a recorded run: each planted cause is the first
// finding, alone, and what looks like one but costs nothing is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_script.h"

namespace pyrometer {
namespace {

using model::Severity;
using testing::causes_of;
using testing::find;
using testing::RunScript;
using testing::RunShape;

constexpr double kGiB = 1024.0 * 1024 * 1024;

// A machine and a GPU in good order.
RunScript healthy(const RunShape& shape = {}) {
  RunScript script(shape);
  script.machine(16, 2).waits_for_cpu(0.002);
  script.gauge("host", "host.memory_available", 100 * kGiB);
  script.gauge("host", "host.swap_in", 0).gauge("host", "host.swap_out", 0);
  script.gauge("process 100", "process.faults_major", 3);
  script.gauge("host", "host.shm_total", 64 * kGiB).gauge("host", "host.shm_used", kGiB);
  script.text("gpu 0", "gpu.uuid", "GPU-1").gauge("gpu 0", "gpu.util", 0.9);
  script.gauge("gpu 0", "gpu.clock_sm", 1900).gauge("gpu 0", "gpu.clock_sm_max", 1980);
  script.gauge("gpu 0", "gpu.power", 600).gauge("gpu 0", "gpu.power_limit", 700);
  script.gauge("gpu 0", "gpu.power_limit_default", 700);
  script.grows("gpu 0", "gpu.violation_power", 0).grows("gpu 0", "gpu.violation_thermal", 0);
  script.gauge("gpu 0", "gpu.throttle_power_brake", 0).gauge("gpu 0", "gpu.temperature", 60);
  script.gauge("gpu 0", "gpu.ecc_volatile_uncorrected", 2).gauge("gpu 0", "gpu.xid", 0);
  script.gauge("gpu 0", "gpu.remap_pending", 0).gauge("gpu 0", "gpu.remap_failed", 0);
  script.gauge("gpu 0", "gpu.persistence", 1);
  script.gauge("gpu 0", "gpu.pcie_generation_max", 5).gauge("gpu 0", "gpu.pcie_width_max", 16);
  script.gauge("gpu 0", "gpu.pcie_width", 16).gauge("gpu 0", "gpu.pcie_rx", 2e9);
  script.gauge("gpu 0", "gpu.pcie_tx", 1e9).gauge("gpu 0", "gpu.sm_active", 0.8);
  // At rest between bursts the link falls back.
  script.series("gpu 0", "gpu.pcie_generation",
                [](double second) { return static_cast<int>(second) % 4 == 0 ? 5 : 1; });
  script.gauge("gpu 0 process 100", "gpu.process.memory", 8 * kGiB);
  script.gauge("gpu 0 process 100", "gpu.process.util", 0.9);
  script.gauge("process 100", "process.cpu_user", 1);
  return script;
}

RunScript waiting_for_input() { return healthy({.input = 0.6}); }

TEST(HealthyRun, HasNoCause) {
  const model::Diagnosis diagnosis = healthy().diagnose();
  EXPECT_EQ(causes_of(diagnosis), "") << diagnosis.verdict;
}

// `cpu_count` and affinity say 16 while cpu.max allows 4.
TEST(CpuQuota, IsTheCauseWhereItHoldsTheTrainingBack) {
  RunScript script = healthy({.gpu = false});
  script.machine(16, 4).waits_for_cpu(0.3);
  script.gauge("host", "cgroup.cpu_quota", 4);
  script.grows("host", "cgroup.cpu_periods", 10).grows("host", "cgroup.cpu_throttled_periods", 8);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "host.cpu_quota");
  const model::Finding& finding = *find(diagnosis, "host.cpu_quota");
  EXPECT_EQ(finding.severity, Severity::kCritical);
  EXPECT_NEAR(finding.share_of_time, 0.3, 0.01);
}

TEST(CpuQuota, ThrottledPeriodsAloneCostNothing) {
  RunScript script = healthy({.gpu = false});
  script.gauge("host", "cgroup.cpu_quota", 4);
  script.grows("host", "cgroup.cpu_periods", 10).grows("host", "cgroup.cpu_throttled_periods", 3);
  EXPECT_EQ(causes_of(script.diagnose()), "");
}

TEST(CpuQuota, ExplainsTheWaitForItsWorkers) {
  RunScript script = healthy({.input = 0.6, .gpu = false});
  script.machine(16, 2).waits_for_cpu(0.1).loader_workers(8, 0.2, 0.75);
  script.gauge("host", "cgroup.cpu_quota", 2);
  script.grows("host", "cgroup.cpu_periods", 10).grows("host", "cgroup.cpu_throttled_periods", 10);
  EXPECT_EQ(causes_of(script.diagnose()), "host.cpu_quota");
}

TEST(Affinity, ToFewOfManyCpus) {
  RunScript script = healthy({.gpu = false});
  script.machine(64, 1.9).waits_for_cpu(0.3, 6);
  script.gauge("process 100", "process.cpus_allowed", 2);
  EXPECT_EQ(causes_of(script.diagnose()), "host.affinity");
}

TEST(Affinity, ToOneNumaNodeIsNone) {
  RunScript script = healthy();
  script.gauge("process 100", "process.cpus_allowed", 8);
  EXPECT_EQ(causes_of(script.diagnose()), "");
}

TEST(CpuSaturated, ByOtherProcesses) {
  RunScript script = healthy({.gpu = false});
  script.machine(16, 1, 15).waits_for_cpu(0.25);
  EXPECT_EQ(causes_of(script.diagnose()), "host.cpu_saturated");
}

TEST(Oversubscribed, WhenTheTrainingThreadWaitsForItsTurn) {
  RunScript script = healthy({.gpu = false});
  script.machine(16, 15.5).waits_for_cpu(0.2, 40);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "host.oversubscribed");
  // The gain is the wait that was measured, not the ratio of threads to CPUs.
  EXPECT_NEAR(find(diagnosis, "host.oversubscribed")->share_of_time, 0.2, 0.01);
}

TEST(Oversubscribed, ManyThreadsThatSleepAreNone) {
  RunScript script = healthy();
  script.gauge("host", "tree.threads", 4000).gauge("process 100", "process.threads", 3000);
  EXPECT_EQ(causes_of(script.diagnose()), "");
}

// On a GPU run a wait for a CPU that the device hides gains nothing.
TEST(Oversubscribed, IsInformationWhereTheDeviceNeverWaits) {
  RunScript script = healthy({.kernels = 0.99});
  script.machine(16, 15.5).waits_for_cpu(0.2, 40);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "");
  ASSERT_NE(find(diagnosis, "host.oversubscribed"), nullptr);
}

TEST(Input, TooFewWorkersWhereTheyAreBusyAndCpusFree) {
  RunScript script = waiting_for_input();
  script.machine(16, 3).loader_workers(2, 0.97, 0.01);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "input.too_few_workers");
  EXPECT_EQ(diagnosis.findings.front().severity, Severity::kCritical);
  ASSERT_TRUE(diagnosis.findings.front().prediction);
  EXPECT_GT(diagnosis.findings.front().prediction->speedup_high(), 1.5);
}

TEST(Input, DecodeBoundWhereNoCpuIsFree) {
  RunScript script = waiting_for_input();
  script.machine(4, 3.9).loader_workers(3, 0.95, 0.02);
  EXPECT_EQ(causes_of(script.diagnose()), "input.decode_bound");
}

// CPU and GPU both idle, and it is the data all the same.
TEST(Input, SlowStorageWhereWorkersWaitForReads) {
  RunScript script = waiting_for_input();
  script.machine(16, 0.3).loader_workers(4, 0.05, 0);
  for (int pid = 101; pid <= 104; ++pid) {
    script.text("process " + std::to_string(pid), "process.state", "D");
    script.grows("process " + std::to_string(pid), "process.read", 20e6);
  }
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "input.slow_storage");
  EXPECT_EQ(diagnosis.findings.front().confidence, model::Confidence::kHigh);
}

TEST(Input, WorkersThatSleepGiveLessCertainty) {
  RunScript script = waiting_for_input();
  script.machine(16, 0.3).loader_workers(4, 0.05, 0);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "input.slow_storage");
  EXPECT_EQ(diagnosis.findings.front().confidence, model::Confidence::kMedium);
}

// Workers that stand still while a checkpoint is written say nothing of what they do when they are
// waited for.
TEST(Input, RestingWorkersAreNotSlowStorage) {
  RunScript script = healthy({.input = 0.2});
  script.machine(16, 1).loader_workers(4, 0.3, 0);
  EXPECT_EQ(causes_of(script.diagnose()), "input.bound");
}

TEST(Input, OneWorkerDoesAllTheWork) {
  RunScript script = waiting_for_input();
  script.machine(16, 1.1).loader_workers(4, 0.02, 0);
  script.grows("process 102", "process.cpu_user", 0.97e9);
  EXPECT_EQ(causes_of(script.diagnose()), "input.one_worker");
}

TEST(Input, WorkersBoundToOneCpu) {
  RunScript script = waiting_for_input();
  script.machine(16, 1.2).loader_workers(8, 0.12, 0.85, 1);
  EXPECT_EQ(causes_of(script.diagnose()), "input.worker_affinity");
}

// The configuration says 8 workers, the process has one: look at live processes.
TEST(Input, CountsWorkersThatLive) {
  RunScript script = waiting_for_input();
  script.machine(16, 2).loader_workers(1, 0.98, 0.01).info("loader.0.num_workers", "8");
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "input.one_worker");
  EXPECT_THAT(diagnosis.findings.front().summary, ::testing::HasSubstr("8 were configured"));
}

TEST(Input, StaysGeneralWhereNothingIsKnownOfWorkers) {
  const model::Diagnosis diagnosis = waiting_for_input().diagnose();
  EXPECT_EQ(causes_of(diagnosis), "input.bound");
  EXPECT_THAT(diagnosis.not_judged, ::testing::Contains(::testing::Field(&model::NotJudged::id,
                                                                         "input.too_few_workers")));
}

TEST(Memory, SwappingNeedsBothTrafficAndFaults) {
  RunScript script = healthy();
  script.gauge("host", "host.swap_in", 50e6).grows("process 100", "process.faults_major", 200);
  EXPECT_EQ(causes_of(script.diagnose()), "host.swapping");
  // Reading mapped data for the first time faults as often.
  script.gauge("host", "host.swap_in", 0);
  EXPECT_EQ(causes_of(script.diagnose()), "");
}

TEST(Memory, CopyOnWriteGrowthIsSeenBeforeTheKernelKills) {
  RunScript script = healthy();
  script.loader_workers(4, 0.2, 0);
  script.series("host", "host.memory_available",
                [](double second) { return 20 * kGiB - second * 0.02 * kGiB; });
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "host.memory_exhaustion");
  EXPECT_THAT(diagnosis.findings.front().summary, ::testing::HasSubstr("copy pages"));
}

TEST(Memory, ACacheThatFillsSlowlyIsNone) {
  RunScript script = healthy();
  script.series("host", "host.memory_available",
                [](double second) { return 100 * kGiB - second * 0.001 * kGiB; });
  EXPECT_EQ(causes_of(script.diagnose()), "");
}

TEST(Memory, SharedMemoryNearlyFull) {
  RunScript script = healthy();
  script.gauge("host", "host.shm_total", 64e6).gauge("host", "host.shm_used", 62e6);
  EXPECT_EQ(causes_of(script.diagnose()), "host.shm_full");
}

TEST(Clocks, HeldDownByTemperature) {
  RunScript script = healthy();
  script.grows("gpu 0", "gpu.violation_thermal", 0.6e9).gauge("gpu 0", "gpu.clock_sm", 1100);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "device.thermal_throttling");
  EXPECT_EQ(find(diagnosis, "device.thermal_throttling")->severity, Severity::kCritical);
}

TEST(Clocks, ThePowerCapOfAFullyUsedGpuIsNoCause) {
  RunScript script = healthy();
  script.grows("gpu 0", "gpu.violation_power", 0.7e9).gauge("gpu 0", "gpu.clock_sm", 1500);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "");
  EXPECT_NE(find(diagnosis, "device.power_cap"), nullptr);
  // A limit that someone lowered is one.
  script.gauge("gpu 0", "gpu.power_limit", 400).gauge("gpu 0", "gpu.clock_sm", 1100);
  EXPECT_EQ(causes_of(script.diagnose()), "device.power_cap");
}

TEST(Shared, AnotherProcessComputesOnTheGpu) {
  RunScript script = healthy();
  script.gauge("gpu 0 process 999", "gpu.process.util", 0.4);
  script.gauge("gpu 0 process 999", "gpu.process.memory", 10 * kGiB);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "device.shared");
  EXPECT_EQ(find(diagnosis, "device.shared")->severity, Severity::kCritical);
}

// In a container the driver's numbers of processes are those of the host.
TEST(Shared, IsNotJudgedWhereTheProcessItselfIsNotSeen) {
  RunScript script = healthy();
  std::erase_if(script.run().counters, [](const model::CounterSummary& counter) {
    return counter.object == "gpu 0 process 100";
  });
  script.gauge("gpu 0 process 424242", "gpu.process.util", 0.9);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "");
  EXPECT_THAT(diagnosis.not_judged,
              ::testing::Contains(::testing::Field(&model::NotJudged::id, "device.shared")));
}

TEST(Health, ErrorsThatCameDuringTheRun) {
  RunScript script = healthy();
  script.series("gpu 0", "gpu.ecc_volatile_uncorrected",
                [](double second) { return second < 30 ? 2 : 3; });
  EXPECT_EQ(causes_of(script.diagnose()), "device.errors");
}

TEST(Link, RestingAtGenerationOneIsNormal) {
  EXPECT_EQ(find(healthy().diagnose(), "device.pcie_link"), nullptr);
  RunScript narrow = healthy();
  narrow.gauge("gpu 0", "gpu.pcie_width", 4);
  const model::Diagnosis diagnosis = narrow.diagnose();
  ASSERT_NE(find(diagnosis, "device.pcie_link"), nullptr);
  EXPECT_EQ(causes_of(diagnosis), "");  // hardly any copies
}

TEST(Link, FullWhileTheGpuWaits) {
  RunScript script = healthy({.kernels = 0.3});
  script.gauge("gpu 0", "gpu.pcie_rx", 58e9).gauge("gpu 0", "gpu.sm_active", 0.2);
  EXPECT_NE(find(script.diagnose(), "transfer.link_saturated"), nullptr);
}

TEST(DeviceMemory, RetriesAndFluctuation) {
  RunScript script = healthy();
  script.grows("process", "memory.alloc_retries", 0.2);
  EXPECT_EQ(causes_of(script.diagnose()), "memory.allocator_retries");
  RunScript waves = healthy();
  waves.series("process", "memory.allocated_bytes", [](double second) {
    return static_cast<int>(second * 7919) % 13 < 5 ? 10 * kGiB : 3 * kGiB;
  });
  EXPECT_EQ(causes_of(waves.diagnose()), "memory.fluctuation");
}

TEST(DeviceMemory, GrowthIsSeenInRecordings) {
  RunScript script = healthy();
  script.series("process", "memory.allocated_bytes",
                [](double second) { return 4 * kGiB + second * 0.1 * kGiB; });
  EXPECT_EQ(causes_of(script.diagnose()), "memory.growth");
}

TEST(Precision, AutocastWithoutEffect) {
  RunScript script = healthy({.kernel = "ampere_sgemm_128x128_tn"});
  script.info("autocast.seen", "torch.bfloat16");
  EXPECT_EQ(causes_of(script.diagnose()), "precision.amp_without_effect");
}

TEST(Precision, SkippedUpdatesCountOnceTheScaleHasSettled) {
  RunScript script = healthy();
  script.info("amp.grad_scaler", "True");
  script.series("process", "amp.skipped_updates",
                [](double second) { return second < 10 ? second * 2 : 20; });
  EXPECT_EQ(causes_of(script.diagnose()), "");
  script.grows("process", "amp.skipped_updates", 2);
  EXPECT_EQ(causes_of(script.diagnose()), "precision.scaler_skips");
}

TEST(Run, HighUtilizationWithoutProgress) {
  RunScript script = healthy();
  script.run().ended = false;
  script.run().span.end += 600'000'000'000;
  model::CounterSummary late;
  late.object = "gpu 0";
  late.name = "gpu.util";
  for (int second = 0; second < 600; ++second) {
    late.points.push_back({script.run().steps.back().span.end + second * 1'000'000'000LL, 1.0});
  }
  late.count = 600;
  std::erase_if(script.run().counters,
                [](const model::CounterSummary& one) { return one.name == "gpu.util"; });
  script.run().counters.push_back(late);
  EXPECT_THAT(causes_of(script.diagnose()), ::testing::StartsWith("run.no_progress"));
}

TEST(Run, LowUtilizationForManyEpochsSaysStop) {
  RunScript script = healthy({.input = 0.8, .workers = false});
  script.run().regions.push_back({"epoch", 10, 60'000'000'000, 6'000'000'000, 0});
  const model::Diagnosis diagnosis = script.diagnose();
  // The cause comes first, the order to stop after it.
  EXPECT_EQ(causes_of(diagnosis), "input.serial_loader run.low_utilization");
}

TEST(Host, ATracerIsACauseOnlyWhereTheDeviceWaits) {
  RunScript script = healthy({.kernels = 0.99});
  script.info("python.trace", "True");
  EXPECT_EQ(causes_of(script.diagnose()), "");
  RunScript cpu = healthy({.gpu = false});
  cpu.info("python.trace", "True");
  EXPECT_EQ(causes_of(cpu.diagnose()), "debug.python_tracing");
}

TEST(Ranks, DataParallelInUse) {
  RunScript script = healthy();
  script.info("model.0.parallel", "DataParallel 4");
  EXPECT_EQ(causes_of(script.diagnose()), "ddp.data_parallel");
}

}  // namespace
}  // namespace pyrometer
