#include "sources/nvml/nvml_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "sources/nvml/nvml_errors.h"
#include "sources/nvml/processes.h"
#include "tests/sources/source_testing.h"
#include "tests/stubs/nvml/world.h"

namespace pyrometer::sources::nvml {
namespace {

using ::testing::HasSubstr;

Subject gpu(int number) { return {.scope = Scope::kDevice, .device = number}; }
Subject process(int number, int pid) {
  return {.scope = Scope::kDeviceProcess, .device = number, .pid = pid};
}

base::Result<Library> open_stub() { return Library{.api = load_api(nvml_stub::resolve)}; }

// A source on a simulated machine; no time passes but what the test lets pass.
class NvmlSourceTest : public ::testing::Test {
 protected:
  void begin(const std::string& script, std::vector<std::string> devices = {}) {
    std::string problem;
    ASSERT_TRUE(nvml_stub::world().load(script, &problem)) << problem;
    nvml_stub::world().open_handles = 0;
    source = std::make_unique<NvmlSource>(
        NvmlOptions{.root = root.path(), .devices = std::move(devices), .open = open_stub});
  }
  void start(const std::string& script, std::vector<std::string> devices = {}) {
    begin(script, std::move(devices));
    const auto started = source->start();
    ASSERT_TRUE(started) << started.error().to_string();
  }
  base::Result<void> sample(std::size_t group) {
    batch.readings.clear();
    batch.events.clear();
    return source->sample(group, batch);
  }
  void run(const std::string& statement) {
    const std::lock_guard lock(nvml_stub::world().mutex);
    ASSERT_TRUE(nvml_stub::world().run(statement));
  }
  static int calls(const char* symbol) { return nvml_stub::world().calls[symbol]; }

  static constexpr std::size_t kFastGroup = 0, kSlowGroup = 1, kOnceGroup = 2;
  FakeRoot root;
  std::unique_ptr<NvmlSource> source;
  Batch batch;
};

TEST_F(NvmlSourceTest, TakesABriefLook) {
  begin("gpus 1\ngpu0 process 4242 compute 2048 60");
  source = std::make_unique<NvmlSource>(
      NvmlOptions{.root = root.path(), .open = open_stub, .brief = true, .identify_always = true});
  ASSERT_TRUE(source->start());
  for (int round = 0; round < 2; ++round) {
    batch.readings.clear();
    for (const std::size_t group : {kFastGroup, kSlowGroup, kOnceGroup}) {
      ASSERT_TRUE(source->sample(group, batch));
    }
    EXPECT_EQ(number(batch, MetricId::kGpuUtil, gpu(0)), 0.87);
    EXPECT_NEAR(number(batch, MetricId::kGpuFan, gpu(0)).value_or(0), 0.35, 1e-9);
    EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process(0, 4242)), 2147483648);
    EXPECT_EQ(text(batch, MetricId::kGpuName, gpu(0)), "NVIDIA H200");
  }
  for (const char* costly :
       {"nvmlDeviceGetTotalEnergyConsumption", "nvmlGpmSampleGet",
        "nvmlDeviceGetProcessUtilization", "nvmlDeviceGetPcieThroughput",
        "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetNvLinkState", "nvmlEventSetCreate",
        "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetEccMode", "nvmlDeviceGetMaxPcieLinkWidth"}) {
    EXPECT_EQ(calls(costly), 0) << costly;
  }
}

TEST_F(NvmlSourceTest, FindsAnInstanceByTheBeginningOfItsUuid) {
  start("gpus 2\ngpu1 mig 7 0 18432\ngpu1 mig 8 0 18432", {"MIG-00002002"});
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(0)), "MIG-00002002");
}

TEST_F(NvmlSourceTest, ReadsAHealthyGpu) {
  start("gpus 2\ngpu1.util 12");
  ASSERT_TRUE(sample(kOnceGroup));
  EXPECT_EQ(text(batch, MetricId::kGpuName, gpu(0)), "NVIDIA H200");
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(1)), "GPU-00002");
  EXPECT_EQ(text(batch, MetricId::kGpuPciId, gpu(1)), "0000:02:00.0");
  EXPECT_EQ(text(batch, MetricId::kGpuCudaVersion, gpu(0)), "13.0");
  EXPECT_EQ(text(batch, MetricId::kGpuComputeCapability, gpu(0)), "9.0");
  EXPECT_EQ(number(batch, MetricId::kGpuPcieGenerationMax, gpu(0)), 5);
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 2);

  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuUtil, gpu(0)), 0.87);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuUtil, gpu(1)), 0.12);
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryUsed, gpu(0)), 64424509440);
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryReserved, gpu(0)), 1073741824);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuPower, gpu(0)), 661);
  EXPECT_EQ(number(batch, MetricId::kGpuThrottlePowerCap, gpu(0)), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuThrottleIdle, gpu(0)), 0);
  EXPECT_EQ(number(batch, MetricId::kGpuLost, gpu(0)), 0);
  EXPECT_EQ(absence(batch, MetricId::kGpuSmActive, gpu(0)), Absence::kNotYet);

  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuEnergy, gpu(0)), 123456.789);
  EXPECT_EQ(number(batch, MetricId::kGpuEccVolatileUncorrected, gpu(0)), 12);
  EXPECT_EQ(number(batch, MetricId::kGpuNvlinkActive, gpu(0)), 18);
  EXPECT_EQ(number(batch, MetricId::kGpuXid, gpu(0)), 0);
  EXPECT_EQ(calls("nvmlDeviceGetPcieThroughput"), 0) << "the blocking call";
  source->stop();
  EXPECT_EQ(nvml_stub::world().open_handles, 0);
}

TEST_F(NvmlSourceTest, LicenceOfVgpuSoftware) {
  start("gpus 3\ngpu0.vgpu_licensed 1\ngpu1.vgpu_licensed 0\ngpu2.vgpu_licensed na");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuVgpuLicensed, gpu(0)), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuVgpuLicensed, gpu(1)), 0);
  EXPECT_EQ(absence(batch, MetricId::kGpuVgpuLicensed, gpu(2)), Absence::kNotSupported);
}

TEST_F(NvmlSourceTest, HardwareCountersNeedSamplesApart) {
  start("gpu0.gpm_value 50");
  ASSERT_TRUE(sample(kFastGroup));
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(find(batch, MetricId::kGpuSmActive, gpu(0)), nullptr) << "too soon, and no wait";
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuSmActive, gpu(0)), 0.5);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuPcieTx, gpu(0)), 50 * 1048576.0);
  EXPECT_EQ(absence(batch, MetricId::kGpuTensorDmmaActive, gpu(0)), Absence::kNotSupported);
}

TEST_F(NvmlSourceTest, WithoutHardwareCountersTrafficComesFromByteCounters) {
  start("gpu0.gpm 0");
  // `supported` 0 is a value here, not a missing one.
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(absence(batch, MetricId::kGpuSmActive, gpu(0)), Absence::kNotSupported);
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(absence(batch, MetricId::kGpuPcieTx, gpu(0)), Absence::kNotYet);
  run("gpu0.pcie_tx_bytes 1500000000");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_GT(number(batch, MetricId::kGpuPcieTx, gpu(0)).value_or(0), 1e8);
  EXPECT_EQ(calls("nvmlDeviceGetPcieThroughput"), 0);
}

TEST_F(NvmlSourceTest, BlockingCallIsTheLastResortAndTakesTurns) {
  start("gpus 8\ngpu*.gpm 0\nhide nvmlDeviceGetFieldValues");
  ASSERT_TRUE(sample(kFastGroup));
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(calls("nvmlDeviceGetPcieThroughput"), 4) << "two of eight GPUs, both directions";
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(calls("nvmlDeviceGetPcieThroughput"), 8);
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuPower, gpu(0)), 655) << "without fields";
}

TEST_F(NvmlSourceTest, OneLostGpuLeavesTheOthers) {
  start("gpus 3");
  ASSERT_TRUE(sample(kOnceGroup));
  run("gpu1 lost");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuLost, gpu(1)), 1);
  EXPECT_EQ(absence(batch, MetricId::kGpuUtil, gpu(1)), Absence::kDeviceLost);
  EXPECT_EQ(absence(batch, MetricId::kGpuPower, gpu(1)), Absence::kDeviceLost);
  EXPECT_TRUE(number(batch, MetricId::kGpuPower, gpu(2)));
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 0) << "told once";
  EXPECT_EQ(number(batch, MetricId::kGpuLost, gpu(1)), 1);
  ASSERT_TRUE(sample(kSlowGroup));
  run("gpu1 back");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(count_events(batch, EventKind::kDeviceBack), 1);
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(1)), "GPU-00002");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuUtil, gpu(1)), 0.87);
}

TEST_F(NvmlSourceTest, GpuThatIsLostFromTheBeginning) {
  start("gpus 2\ngpu0 lost");
  ASSERT_TRUE(sample(kOnceGroup));
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 1);
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 1);
  run("gpu0 back");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(count_events(batch, EventKind::kDeviceBack), 1);
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(0)), "GPU-00001");
}

TEST_F(NvmlSourceTest, DriverReloadEndsTheSessionAndNumbersStay) {
  start("gpus 2");
  ASSERT_TRUE(sample(kOnceGroup));
  run("uninitialized");
  EXPECT_FALSE(sample(kFastGroup));
  source->stop();
  EXPECT_EQ(nvml_stub::world().open_handles, 0);
  ASSERT_TRUE(source->start());
  ASSERT_TRUE(sample(kOnceGroup));
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(1)), "GPU-00002");
}

TEST_F(NvmlSourceTest, VersionMismatchSaysWhatToDo) {
  begin("init 18");
  const auto started = source->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().to_string(), HasSubstr("different versions"));
  EXPECT_THAT(started.error().advice, HasSubstr("reboot"));
}

TEST_F(NvmlSourceTest, NoDriverNoPermissionNoDevices) {
  begin("init 9");
  EXPECT_THAT(source->start().error().message, HasSubstr("no NVIDIA GPU"));
  root.add_pci("0000:01:00.0", 0x10de, "");
  EXPECT_THAT(source->start().error().message, HasSubstr("driver is not loaded"));
  begin("gpus 1\ngpu0.open error 4");
  EXPECT_THAT(source->start().error().message, HasSubstr("refused"));
  begin("gpus 2", {"GPU-none"});
  EXPECT_THAT(source->start().error().message, HasSubstr("none of the GPUs"));
}

TEST_F(NvmlSourceTest, SelectsByUuidAddressOrNumber) {
  start("gpus 4", {"GPU-00002", "00000000:03:00.0", "3"});
  ASSERT_TRUE(sample(kOnceGroup));
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(0)), "GPU-00002");
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(1)), "GPU-00003");
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(2)), "GPU-00004");
  EXPECT_EQ(find(batch, MetricId::kGpuUuid, gpu(3)), nullptr);
}

TEST_F(NvmlSourceTest, ProcessesWhateverTheSizeOfAnEntry) {
  for (const char* size : {"24", "32"}) {
    start(std::string("process-entry ") + size +
          "\ngpu0 process 4242 compute 2048 60\ngpu0 process 4243 compute na na"
          "\ngpu0 process 4242 graphics 100 na\ngpu0 process 17 graphics 5 na");
    ASSERT_TRUE(sample(kSlowGroup));
    EXPECT_EQ(number(batch, MetricId::kGpuProcesses, gpu(0)), 3) << size;
    EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process(0, 4242)), 2048 * 1048576.0);
    EXPECT_EQ(number(batch, MetricId::kGpuProcessCompute, process(0, 4242)), 1);
    EXPECT_EQ(number(batch, MetricId::kGpuProcessCompute, process(0, 17)), 0);
    EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuProcessUtil, process(0, 4242)), 0.6);
    EXPECT_EQ(absence(batch, MetricId::kGpuProcessMemory, process(0, 4243)),
              Absence::kNotAvailable);
    EXPECT_EQ(absence(batch, MetricId::kGpuProcessUtil, process(0, 4243)), Absence::kNotAvailable);
    EXPECT_EQ(absence(batch, MetricId::kGpuProcessName, process(0, 17)), Absence::kOtherNamespace);
  }
}

TEST_F(NvmlSourceTest, OldDriverWithShortProcessEntries) {
  start(
      "hide nvmlDeviceGetComputeRunningProcesses_v3\nhide nvmlDeviceGetComputeRunningProcesses_v2\n"
      "gpu0 process 4242 compute 10 5\ngpu0 process 4243 compute 20 5");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process(0, 4243)), 20 * 1048576.0);
}

TEST(EntrySize, ByWhatWasWritten) {
  EXPECT_EQ(entry_size(24, 1), 24U);
  EXPECT_EQ(entry_size(32, 1), 32U);
  EXPECT_EQ(entry_size(48, 2), 24U);
  EXPECT_EQ(entry_size(64, 2), 32U);
  EXPECT_EQ(entry_size(2400, 100), 24U);
  EXPECT_EQ(entry_size(3200, 100), 32U);
  EXPECT_EQ(entry_size(4000, 100), 0U) << "an entry of another kind";
  EXPECT_EQ(entry_size(10, 2), 0U);
}

TEST_F(NvmlSourceTest, ManyProcessesNeedALargerBuffer) {
  std::string script = "gpus 1\n";
  for (int pid = 1; pid <= 3000; ++pid) {
    script += "gpu0 process " + std::to_string(pid) + " compute 1 na\n";
  }
  start(script);
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuProcesses, gpu(0)), 3000);
}

TEST_F(NvmlSourceTest, MigInstancesAreDevicesOfTheirOwn) {
  start("gpus 2\ngpu0 mig 7 0 18432\ngpu0 mig 8 0 18432\ngpu0.util na");
  ASSERT_TRUE(sample(kOnceGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuMigInstances, gpu(0)), 2);
  EXPECT_EQ(text(batch, MetricId::kGpuParentUuid, gpu(1)), "GPU-00001");
  EXPECT_EQ(number(batch, MetricId::kGpuGpuInstance, gpu(2)), 8);
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(3)), "GPU-00002");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryTotal, gpu(1)), 18432 * 1048576.0);
  EXPECT_EQ(absence(batch, MetricId::kGpuUtil, gpu(1)), Absence::kNotSupported);
  EXPECT_THAT(find(batch, MetricId::kGpuUtil, gpu(0))->reason(), HasSubstr("MIG"));
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuSmActive, gpu(1)), 0.5);
  // Another instance appears while we watch; numbers stay.
  run("gpu0 mig 9 0 18432");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(3)), "GPU-00002");
  EXPECT_EQ(number(batch, MetricId::kGpuGpuInstance, gpu(4)), 9);
}

TEST_F(NvmlSourceTest, XidErrorsAreTold) {
  start("gpus 2\ngpu1 xid 31\ngpu1 xid 79");
  ASSERT_TRUE(sample(kFastGroup));
  ASSERT_EQ(count_events(batch, EventKind::kXid), 2);
  for (const Event& event : batch.events) {
    if (event.kind != EventKind::kXid) continue;
    EXPECT_EQ(event.subject.device, 1);
    EXPECT_THAT(event.text, HasSubstr(event.code == 79 ? "fallen off the bus" : "page fault"));
  }
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuXid, gpu(1)), 79);
  EXPECT_EQ(number(batch, MetricId::kGpuXid, gpu(0)), 0);
}

TEST_F(NvmlSourceTest, XidIsMissingWhereItCannotBeWatched) {
  start("gpu0.events error 3");
  ASSERT_TRUE(sample(kSlowGroup));
  EXPECT_EQ(absence(batch, MetricId::kGpuXid, gpu(0)), Absence::kNotSupported);
}

TEST_F(NvmlSourceTest, UnifiedMemoryIsNoZero) {
  start("gpu0.total na");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(absence(batch, MetricId::kGpuMemoryTotal, gpu(0)), Absence::kNotSupported);
  EXPECT_EQ(absence(batch, MetricId::kGpuMemoryUsed, gpu(0)), Absence::kNotSupported);
}

TEST_F(NvmlSourceTest, FirstVersionOfMemoryDoesNotTellUsed) {
  start("hide nvmlDeviceGetMemoryInfo_v2");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryTotal, gpu(0)), 150754820096);
  EXPECT_EQ(absence(batch, MetricId::kGpuMemoryUsed, gpu(0)), Absence::kNotAvailable);
}

TEST_F(NvmlSourceTest, NotSupportedIsNotAskedForEverySecond) {
  start("gpu0.fan na\ngpu0.clock_sm na");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(sample(kSlowGroup));
    EXPECT_EQ(absence(batch, MetricId::kGpuFan, gpu(0)), Absence::kNotSupported);
  }
  EXPECT_EQ(calls("nvmlDeviceGetFanSpeed"), 1);
}

TEST_F(NvmlSourceTest, SleepingGpuIsNotWoken) {
  root.add_pci("0000:01:00.0", 0x10de, "nvidia", "auto", "suspended");
  start("gpus 1");
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_TRUE(nvml_stub::world().calls.empty()) << "no call at all";
  EXPECT_EQ(number(batch, MetricId::kGpuAsleep, gpu(0)), 1);
  // Somebody else wakes it.
  root.write("/sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "active\n");
  ASSERT_TRUE(sample(kFastGroup));
  ASSERT_TRUE(sample(kFastGroup));
  EXPECT_EQ(number(batch, MetricId::kGpuAsleep, gpu(0)), 0);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kGpuUtil, gpu(0)), 0.87);
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, gpu(0)), "GPU-00001") << "the same number";
}

TEST_F(NvmlSourceTest, IdleGpuThatMaySleepIsLetGo) {
  root.add_pci("0000:01:00.0", 0x10de, "nvidia", "auto", "active");
  ASSERT_TRUE(nvml_stub::world().load("gpu0.util 0"));
  NvmlSource idle(NvmlOptions{.root = root.path(), .open = open_stub, .release_after_ns = 1});
  ASSERT_TRUE(idle.start());
  ASSERT_TRUE(idle.sample(kSlowGroup, batch));
  EXPECT_FALSE(nvml_stub::world().initialized);
}

// Whatever the driver answers, a reading is the number it gave or a reason: zero only where the
// machine says zero. In the healthy script nothing does.
class NoWrongZero : public NvmlSourceTest, public ::testing::WithParamInterface<int> {};

TEST_P(NoWrongZero, Holds) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  std::string script = "gpus 3\n";
  static_cast<void>(nvml_stub::world().load("gpus 1"));
  static const char* const kAnswers[] = {"na",      "error 999",  "untouched", "garbage",
                                         "error 4", "error 1234", "error 15"};
  const auto& healthy = nvml_stub::world().gpus[0].answers;
  for (const auto& [key, answer] : healthy) {
    if (key == "mig_mode") continue;
    for (int number = 0; number < 3; ++number) {
      if (!chance(3)) continue;
      script += "gpu" + std::to_string(number) + "." + key + " ";
      // The last one makes the GPU look lost.
      script += kAnswers[random() % (number == 2 ? 7 : 6)];
      script += "\n";
    }
  }
  for (const char* symbol :
       {"nvmlDeviceGetFieldValues", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetUtilizationRates",
        "nvmlGpmMetricsGet", "nvmlDeviceGetPowerUsage", "nvmlEventSetCreate",
        "nvmlDeviceGetProcessUtilization"}) {
    if (chance(4)) script += std::string("hide ") + symbol + "\n";
  }
  script += "gpu* process 4242 compute " + std::string(chance(2) ? "na" : "77") + " na\n";
  start(script);
  static const std::set<MetricId> kMayBeZero = {MetricId::kGpuIndex,
                                                MetricId::kGpuLost,
                                                MetricId::kGpuMigEnabled,
                                                MetricId::kGpuMigInstances,
                                                MetricId::kGpuXid,
                                                MetricId::kGpuEnergyPolled,
                                                MetricId::kGpuNvlinkDown,
                                                MetricId::kGpuThrottleIdle,
                                                MetricId::kGpuThrottleAppClocks,
                                                MetricId::kGpuThrottleThermal,
                                                MetricId::kGpuThrottleHwThermal,
                                                MetricId::kGpuThrottleHwSlowdown,
                                                MetricId::kGpuThrottlePowerBrake,
                                                MetricId::kGpuThrottleSyncBoost,
                                                MetricId::kGpuThrottlePowerCap};
  for (const std::size_t group : {kOnceGroup, kFastGroup, kSlowGroup, kFastGroup, kSlowGroup}) {
    if (group == kFastGroup) std::this_thread::sleep_for(std::chrono::milliseconds(101));
    ASSERT_TRUE(sample(group));
    for (const Reading& reading : batch.readings) {
      const double* value = reading.value.number();
      if (value == nullptr) continue;
      const MetricInfo& metric = metric_info(reading.metric);
      EXPECT_TRUE(is_plausible(metric, *value)) << metric.id << " = " << *value << "\n" << script;
      // The counters of bytes stand still in this world.
      if (metric.unit == "bytes/s") continue;
      EXPECT_TRUE(*value != 0 || kMayBeZero.contains(reading.metric)) << metric.id << "\n"
                                                                      << script;
    }
  }
  source->stop();
  EXPECT_EQ(nvml_stub::world().open_handles, 0) << script;
}

INSTANTIATE_TEST_SUITE_P(Scripts, NoWrongZero, ::testing::Range(0, 60));

}  // namespace
}  // namespace pyrometer::sources::nvml
