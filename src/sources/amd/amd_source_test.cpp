#include "sources/amd/amd_source.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sources/amd/sysfs.h"
#include "tests/sources/source_testing.h"

namespace pyrometer::sources::amd {
namespace {

namespace fs = std::filesystem;
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };

const Subject kGpu{.scope = Scope::kDevice, .device = kFirstAmdDevice};
Subject process(int pid) {
  return {.scope = Scope::kDeviceProcess, .device = kFirstAmdDevice, .pid = pid};
}

// A copy of one of the machines in tests/fakeroot, which a test may change.
class AmdSourceTest : public ::testing::Test {
 protected:
  void begin(const std::string& machine) {
    fs::copy(fs::path(PYROMETER_SOURCE_DIR) / "tests/fakeroot" / machine, root.path(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    make({});
  }
  void make(AmdOptions options) {
    options.root = root.path();
    if (!with_rsmi) options.open = nullptr;
    source = std::make_unique<AmdSource>(std::move(options));
  }
  void start() {
    const auto started = source->start();
    ASSERT_TRUE(started) << started.error().to_string();
  }
  base::Result<void> sample_all() {
    batch = {};
    for (const std::size_t group : {kFastGroup, kSlowGroup, kOnceGroup}) {
      if (auto sampled = source->sample(group, batch); !sampled) return sampled;
    }
    return {};
  }
  std::optional<double> is(MetricId metric) { return number(batch, metric, kGpu); }

  FakeRoot root;
  bool with_rsmi = false;
  std::unique_ptr<AmdSource> source;
  Batch batch;
};

TEST_F(AmdSourceTest, ReadsAnIntegratedGpu) {
  begin("780m");
  EXPECT_TRUE(has_amd_gpu(root.path()));
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(text(batch, MetricId::kGpuName, kGpu), "AMD Radeon 780M");
  EXPECT_EQ(text(batch, MetricId::kGpuVendor, kGpu), "AMD");
  EXPECT_EQ(text(batch, MetricId::kGpuPciId, kGpu), "0000:c5:00.0");
  EXPECT_EQ(absence(batch, MetricId::kGpuUuid, kGpu), Absence::kNotSupported);
  EXPECT_EQ(text(batch, MetricId::kGpuDriverVersion, kGpu), "Linux 6.8.0-45-generic");
  EXPECT_EQ(is(MetricId::kGpuUtil), 0.23);
  EXPECT_EQ(absence(batch, MetricId::kGpuUtilMemory, kGpu), Absence::kNotSupported);
  EXPECT_EQ(is(MetricId::kGpuMemoryTotal), 536870912);
  EXPECT_EQ(is(MetricId::kGpuMemoryUsed), 402653184);
  EXPECT_EQ(is(MetricId::kGpuSharedMemoryTotal), 16106127360);
  EXPECT_EQ(is(MetricId::kGpuSharedMemoryUsed), 2147483648);
  EXPECT_EQ(is(MetricId::kGpuClockSm), 1244) << "measured, not the level";
  EXPECT_EQ(is(MetricId::kGpuClockSmMax), 2700);
  EXPECT_EQ(is(MetricId::kGpuClockMemory), 2800);
  EXPECT_NEAR(is(MetricId::kGpuPower).value_or(0), 17.045, 1e-9);
  EXPECT_NEAR(is(MetricId::kGpuPowerAverage).value_or(0), 17.045, 1e-9);
  EXPECT_EQ(is(MetricId::kGpuTemperature), 51);
  EXPECT_EQ(absence(batch, MetricId::kGpuTemperatureHotspot, kGpu), Absence::kNotSupported);
  EXPECT_EQ(absence(batch, MetricId::kGpuPowerLimit, kGpu), Absence::kNotSupported);
  EXPECT_EQ(absence(batch, MetricId::kGpuFan, kGpu), Absence::kNotSupported);
  EXPECT_EQ(absence(batch, MetricId::kGpuThrottleMask, kGpu), Absence::kNotSupported);
  EXPECT_EQ(absence(batch, MetricId::kGpuNumaNode, kGpu), Absence::kNotApplicable);
  EXPECT_EQ(is(MetricId::kGpuProcesses), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process(3120)), 102400 * 1024.0)
      << "two files of one client count once";
  EXPECT_EQ(number(batch, MetricId::kGpuProcessSharedMemory, process(3120)), 1048576 * 1024.0);
  EXPECT_EQ(number(batch, MetricId::kGpuProcessCompute, process(3120)), 0);
  EXPECT_EQ(text(batch, MetricId::kGpuProcessName, process(3120)), "blender");
}

TEST_F(AmdSourceTest, TakesThePowerOfThisInstantWhereItIsTold) {
  begin("780m");
  const std::string hwmon = "/sys/bus/pci/devices/0000:c5:00.0/hwmon/hwmon5/";
  root.write(hwmon + "power1_input", "21000000\n");
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuPower), 21);
  EXPECT_NEAR(is(MetricId::kGpuPowerAverage).value_or(0), 17.045, 1e-9);
  root.remove(hwmon + "power1_average");
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuPower), 21);
  EXPECT_EQ(absence(batch, MetricId::kGpuPowerAverage, kGpu), Absence::kNotSupported);
  EXPECT_TRUE(is(MetricId::kGpuEnergyPolled));
}

TEST_F(AmdSourceTest, ReadsAnAccelerator) {
  begin("mi300x");
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(text(batch, MetricId::kGpuName, kGpu), "AMD Instinct MI300X OAM");
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, kGpu), "GPU-4d7a2f6c1e9b0385");
  EXPECT_EQ(text(batch, MetricId::kGpuDriverVersion, kGpu), "6.8.5");
  EXPECT_EQ(is(MetricId::kGpuUtil), 0.91);
  EXPECT_EQ(is(MetricId::kGpuTemperature), 58) << "of the hottest place: it has no other sensor";
  EXPECT_EQ(is(MetricId::kGpuTemperatureMemory), 46);
  EXPECT_EQ(is(MetricId::kGpuPower), 412);
  EXPECT_EQ(is(MetricId::kGpuPowerLimit), 750);
  EXPECT_NEAR(is(MetricId::kGpuEnergy).value_or(0), 65'536'000'000 * 15.259e-6, 1e-3);
  EXPECT_EQ(is(MetricId::kGpuPcieGeneration), 5);
  EXPECT_EQ(is(MetricId::kGpuPcieReplays), 2);
  EXPECT_EQ(is(MetricId::kGpuEccVolatileCorrected), 4);
  EXPECT_EQ(is(MetricId::kGpuEccVolatileUncorrected), 1);
  EXPECT_EQ(is(MetricId::kGpuNumaNode), 1);
  EXPECT_EQ(absence(batch, MetricId::kGpuXgmiTx, kGpu), Absence::kNotYet);
  EXPECT_EQ(is(MetricId::kGpuProcesses), 1) << "one that holds no memory here does not count";
  EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process(8111)), 161061273600);
  EXPECT_EQ(number(batch, MetricId::kGpuProcessCompute, process(8111)), 1);
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuXgmiTx), 0);
}

TEST_F(AmdSourceTest, LeavesOutIdsOfAnotherNamespace) {
  begin("mi300x");
  root.remove("/proc/self/ns/pid");
  make({});
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuProcesses), 0);
}

TEST_F(AmdSourceTest, ReadsAGraphicsCard) {
  begin("rx7900");
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(text(batch, MetricId::kGpuName, kGpu), "AMD Radeon RX 7900 XTX");
  EXPECT_EQ(is(MetricId::kGpuTemperature), 54);
  EXPECT_EQ(is(MetricId::kGpuTemperatureHotspot), 71);
  EXPECT_EQ(is(MetricId::kGpuTemperatureMemory), 66);
  EXPECT_EQ(is(MetricId::kGpuTemperatureSlowdown), 100);
  EXPECT_EQ(is(MetricId::kGpuFan), 0.5);
  EXPECT_EQ(is(MetricId::kGpuThrottleMask), 0x24);
  EXPECT_EQ(is(MetricId::kGpuThrottlePowerCap), 1);
  EXPECT_EQ(is(MetricId::kGpuThrottleThermal), 1);
  EXPECT_EQ(is(MetricId::kGpuThrottleHwThermal), 0);
  EXPECT_EQ(absence(batch, MetricId::kGpuEnergy, kGpu), Absence::kNotSupported)
      << "in a unit that depends on the chip";
  EXPECT_EQ(is(MetricId::kGpuAsleep), 0);
  EXPECT_EQ(is(MetricId::kGpuMemoryFree), 25753026560 - 12884901888);
}

TEST_F(AmdSourceTest, LetsASuspendedCardSleep) {
  begin("rx7900");
  const std::string folder = "/sys/bus/pci/devices/0000:03:00.0/";
  start();
  root.write(folder + "power/runtime_status", "suspended\n");
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuAsleep), 1);
  EXPECT_EQ(text(batch, MetricId::kGpuName, kGpu), "AMD Radeon RX 7900 XTX");
  for (const MetricId metric :
       {MetricId::kGpuUtil, MetricId::kGpuPower, MetricId::kGpuMemoryTotal, MetricId::kGpuFan,
        MetricId::kGpuPcieWidth, MetricId::kGpuFirmwareVersion}) {
    EXPECT_EQ(find(batch, metric, kGpu), nullptr) << metric_info(metric).id;
  }
  root.write(folder + "power/runtime_status", "active\n");
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(is(MetricId::kGpuUtil), 0.99);
  EXPECT_EQ(text(batch, MetricId::kGpuFirmwareVersion, kGpu), "113-D70200-00");
}

TEST_F(AmdSourceTest, NoticesThatACardHasGone) {
  begin("rx7900");
  root.add_pci("0000:83:00.0", 0x1002, "amdgpu");
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 2);
  fs::rename(root.path() + "/sys/bus/pci/devices/0000:03:00.0", root.path() + "/gone");
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 1);
  EXPECT_EQ(is(MetricId::kGpuLost), 1);
  EXPECT_EQ(find(batch, MetricId::kGpuUtil, kGpu), nullptr);
  fs::rename(root.path() + "/gone", root.path() + "/sys/bus/pci/devices/0000:03:00.0");
  ASSERT_TRUE(sample_all());
  EXPECT_EQ(count_events(batch, EventKind::kDeviceBack), 1);
  EXPECT_EQ(is(MetricId::kGpuLost), 0);
  EXPECT_EQ(is(MetricId::kGpuUtil), 0.99);
  root.remove("/sys/bus/pci/devices");
  EXPECT_FALSE(sample_all()) << "the driver was unloaded";
  EXPECT_FALSE(source->start() && sample_all());
}

TEST_F(AmdSourceTest, TakesABriefLook) {
  begin("mi300x");
  make({.brief = true, .identify_always = true});
  start();
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(sample_all());
    EXPECT_EQ(text(batch, MetricId::kGpuName, kGpu), "AMD Instinct MI300X OAM");
    EXPECT_EQ(is(MetricId::kGpuPowerLimit), 750);
    EXPECT_EQ(find(batch, MetricId::kGpuEnergy, kGpu), nullptr);
  }
}

TEST_F(AmdSourceTest, ReadsTheGpusAskedFor) {
  begin("mi300x");
  for (const char* name : {"0", "GPU-4d7a", "0000:05:00.0"}) {
    make({.devices = {name}});
    EXPECT_TRUE(source->start()) << name;
  }
  make({.devices = {"1"}});
  EXPECT_FALSE(source->start());
  root.remove("/sys");
  make({});
  EXPECT_FALSE(source->start());
  EXPECT_FALSE(has_amd_gpu(root.path()));
}

base::Result<RsmiLibrary> open_stub() {
  void* opened = dlopen(PYROMETER_STUB_RSMI_PATH, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    return base::fail({.kind = base::ErrorKind::kNotFound, .message = dlerror()});
  }
  return RsmiLibrary{.api = load_rsmi([opened](const char* name) { return dlsym(opened, name); }),
                     .handle = std::shared_ptr<void>(opened, [](void* it) { dlclose(it); })};
}

TEST_F(AmdSourceTest, AsksRocmSmiForTheRest) {
  with_rsmi = true;
  begin("rx7900");
  make({.open = open_stub});
  start();
  ASSERT_TRUE(sample_all());
  EXPECT_NEAR(is(MetricId::kGpuEnergy).value_or(0), 2e6 * 15.3e-6, 1e-4);
  EXPECT_EQ(is(MetricId::kGpuEccVolatileCorrected), 7);
  EXPECT_EQ(is(MetricId::kGpuEccVolatileUncorrected), 1);
  source->stop();
  for (const char* words : {"no-init", "elsewhere", "no-energy"}) {
    setenv("PYROMETER_STUB_RSMI", words, 1);
    make({.open = open_stub});
    start();
    ASSERT_TRUE(sample_all());
    EXPECT_EQ(absence(batch, MetricId::kGpuEnergy, kGpu), Absence::kNotSupported) << words;
    EXPECT_EQ(is(MetricId::kGpuUtil), 0.99) << words;
  }
  unsetenv("PYROMETER_STUB_RSMI");
}

TEST(GpuMetrics, RefusesWhatItDoesNotKnow) {
  const auto table = [](std::size_t size, int format, int content) {
    std::string bytes(size, '\0');
    bytes[0] = static_cast<char>(size & 0xFF);
    bytes[1] = static_cast<char>(size >> 8);
    bytes[2] = static_cast<char>(format);
    bytes[3] = static_cast<char>(content);
    return bytes;
  };
  EXPECT_EQ(parse_gpu_metrics(table(120, 1, 3)).refused, "");
  EXPECT_EQ(parse_gpu_metrics(table(128, 1, 3)).refused,
            "gpu_metrics has another size than its version has");
  EXPECT_EQ(parse_gpu_metrics(table(120, 1, 3).substr(0, 90)).refused,
            "gpu_metrics has another size than its version has");
  EXPECT_EQ(parse_gpu_metrics(table(400, 1, 9)).refused,
            "this version of gpu_metrics is not known");
  EXPECT_EQ(parse_gpu_metrics("abc").refused, "gpu_metrics is cut short");
  std::string idle = table(120, 1, 3);
  EXPECT_FALSE(parse_gpu_metrics(idle).throttle->power);
  idle[112] = '\x40';
  EXPECT_TRUE(parse_gpu_metrics(idle).throttle->power);
}

TEST(AmdSysfs, ReadsItsTables) {
  const ClockLevels levels = parse_clock_levels("S: 19Mhz *\n0: 500Mhz\n1: 2526Mhz\n");
  EXPECT_EQ(levels.current, 19);
  EXPECT_EQ(levels.highest, 2526);
  EXPECT_FALSE(parse_clock_levels("OD_SCLK:\n0: many *\n").current);
  EXPECT_FALSE(parse_clock_levels("").highest);
  EXPECT_EQ(pcie_generation_of("2.5 GT/s PCIe\n"), 1);
  EXPECT_EQ(pcie_generation_of("64.0 GT/s PCIe"), 6);
  EXPECT_FALSE(pcie_generation_of("Unknown"));
  EXPECT_EQ(parse_error_counts("ue: 2\nce: 3\n")->corrected, 3);
  EXPECT_FALSE(parse_error_counts("disabled\n"));
}

TEST(Fdinfo, ReadsClients) {
  const auto client = parse_fdinfo(
      "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t0000:03:00.0\n"
      "drm-memory-vram:\t10 KiB\ndrm-resident-vram:\t2 MiB\ndrm-engine-compute: 17 ns\n");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->id, 5);
  EXPECT_EQ(client->vram, 2 << 20);
  EXPECT_EQ(client->compute_ns, 17);
  EXPECT_FALSE(client->gtt);
  EXPECT_FALSE(parse_fdinfo("pos: 0\n"));
  EXPECT_FALSE(parse_fdinfo("drm-driver: amdgpu\ndrm-pdev: a\n")) << "without a client's number";
  EXPECT_FALSE(parse_fdinfo("drm-driver: amdgpu\ndrm-pdev: a\ndrm-client-id: 1\n"
                            "drm-memory-vram: 99999999999999999999 KiB\n")
                   ->vram);
}

}  // namespace
}  // namespace pyrometer::sources::amd
