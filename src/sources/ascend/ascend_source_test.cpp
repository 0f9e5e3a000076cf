#include "sources/ascend/ascend_source.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources::ascend {
namespace {

enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
Subject npu(int number) { return {.scope = Scope::kDevice, .device = kFirstAscendDevice + number}; }

class AscendSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library = std::shared_ptr<void>(dlopen(PYROMETER_STUB_DCMI_PATH, RTLD_NOW | RTLD_LOCAL),
                                    [](void* it) { dlclose(it); });
    ASSERT_NE(library, nullptr) << dlerror();
    set(nullptr, 0);  // the library may have stayed loaded
    root.link("/proc/self/ns/pid", "pid:[4026531836]");
    root.write("/proc/4242/comm", "python\n");
    make({});
  }
  // A library that lacks the functions named.
  void make(AscendOptions options, std::set<std::string> lacks = {}) {
    options.root = root.path();
    options.open = [this, lacks = std::move(lacks)]() -> base::Result<Library> {
      return Library{.api = load_api([&](const char* name) {
                       return lacks.contains(name) ? nullptr : dlsym(library.get(), name);
                     }),
                     .handle = library};
    };
    source = std::make_unique<AscendSource>(std::move(options));
  }
  void set(const char* name, int value) {
    reinterpret_cast<void (*)(const char*, int)>(dlsym(library.get(), "stub_dcmi_set"))(name,
                                                                                        value);
  }
  void start() {
    const auto started = source->start();
    ASSERT_TRUE(started) << started.error().to_string();
  }
  void sample_all() {
    batch = {};
    for (const std::size_t group : {kFastGroup, kSlowGroup, kOnceGroup}) {
      ASSERT_TRUE(source->sample(group, batch));
    }
  }

  FakeRoot root;
  std::shared_ptr<void> library;
  std::unique_ptr<AscendSource> source;
  Batch batch;
};

TEST_F(AscendSourceTest, ReadsChipsWithHbm) {
  start();
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 3);
  EXPECT_EQ(text(batch, MetricId::kGpuName, npu(0)), "Ascend 910B3");
  EXPECT_EQ(text(batch, MetricId::kGpuVendor, npu(0)), "Huawei");
  EXPECT_EQ(text(batch, MetricId::kGpuPciId, npu(1)), "0000:c2:00.0");
  EXPECT_EQ(text(batch, MetricId::kGpuUuid, npu(0)),
            "NPU-00000001-00000002-00000003-00000004-00000005");
  EXPECT_EQ(text(batch, MetricId::kGpuDriverVersion, npu(0)), "24.1.rc2");
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, npu(0)), 0.84);
  EXPECT_EQ(number(batch, MetricId::kGpuUtilMemory, npu(0)), 0.4);
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryTotal, npu(0)), 65536.0 * 1048576);
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryUsed, npu(0)), 32768.0 * 1048576);
  EXPECT_EQ(number(batch, MetricId::kGpuTemperature, npu(0)), 47);
  EXPECT_EQ(number(batch, MetricId::kGpuTemperatureMemory, npu(0)), 55);
  EXPECT_NEAR(number(batch, MetricId::kGpuPower, npu(0)).value_or(0), 162.4, 1e-9);
  EXPECT_EQ(number(batch, MetricId::kGpuClockSm, npu(0)), 1500);
  EXPECT_EQ(number(batch, MetricId::kGpuClockSmMax, npu(0)), 1850);
  EXPECT_EQ(number(batch, MetricId::kGpuClockMemory, npu(0)), 1600);
  EXPECT_EQ(number(batch, MetricId::kGpuHealth, npu(0)), 0);
  EXPECT_EQ(text(batch, MetricId::kGpuErrorCodes, npu(0)), "none");
  EXPECT_EQ(number(batch, MetricId::kGpuEccVolatileCorrected, npu(0)), 3);
  EXPECT_EQ(number(batch, MetricId::kGpuEccAggregateUncorrected, npu(0)), 1);
  EXPECT_EQ(absence(batch, MetricId::kGpuEnergy, npu(0)), Absence::kNotSupported);
  EXPECT_EQ(number(batch, MetricId::kGpuProcesses, npu(0)), 1);
  const Subject process{.scope = Scope::kDeviceProcess, .device = kFirstAscendDevice, .pid = 4242};
  EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process), 1073741824);
  EXPECT_EQ(text(batch, MetricId::kGpuProcessName, process), "python");
}

TEST_F(AscendSourceTest, ReadsChipsWithDdr) {
  start();
  sample_all();
  EXPECT_EQ(text(batch, MetricId::kGpuName, npu(2)), "Ascend 310P3");
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryTotal, npu(2)), 24576.0 * 1048576);
  EXPECT_EQ(number(batch, MetricId::kGpuMemoryUsed, npu(2)), 4096.0 * 1048576);
  EXPECT_EQ(absence(batch, MetricId::kGpuUtilMemory, npu(2)), Absence::kNotSupported);
  EXPECT_EQ(number(batch, MetricId::kGpuEccVolatileCorrected, npu(2)), 3);
}

TEST_F(AscendSourceTest, MakesDoWithWhatTheLibraryHas) {
  set("old", 1);
  make({}, {"dcmi_get_device_id_in_card", "dcmi_get_device_logic_id", "dcmi_get_device_power_info",
            "dcmi_get_device_die_v2", "dcmi_get_device_errorcode_v2", "dcmi_get_device_ecc_info",
            "dcmi_get_device_resource_info", "dcmi_get_driver_version"});
  start();
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 3);
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, npu(0)), 0.61) << "of the AI cores";
  for (const MetricId metric :
       {MetricId::kGpuPower, MetricId::kGpuErrorCodes, MetricId::kGpuEccVolatileCorrected,
        MetricId::kGpuProcesses, MetricId::kGpuDriverVersion}) {
    EXPECT_EQ(absence(batch, metric, npu(0)), Absence::kNotSupported) << metric_info(metric).id;
  }
  EXPECT_EQ(find(batch, MetricId::kGpuPower, npu(0))->reason(),
            "not supported: needs a newer Ascend driver");
}

TEST_F(AscendSourceTest, BelievesNoNonsense) {
  set("nonsense", 1);
  set("health", -1);
  start();
  sample_all();
  EXPECT_EQ(absence(batch, MetricId::kGpuUtil, npu(0)), Absence::kImplausible);
  EXPECT_EQ(absence(batch, MetricId::kGpuMemoryUsed, npu(0)), Absence::kImplausible);
  EXPECT_EQ(absence(batch, MetricId::kGpuHealth, npu(0)), Absence::kNotAvailable);
}

TEST_F(AscendSourceTest, TellsAlarmsAndWhatIsForbidden) {
  set("health", 2);
  set("errors", 2);
  set("no-processes", 1);
  start();
  sample_all();
  EXPECT_EQ(number(batch, MetricId::kGpuHealth, npu(0)), 2);
  EXPECT_EQ(text(batch, MetricId::kGpuErrorCodes, npu(0)), "80E01801 80E01802");
  EXPECT_EQ(absence(batch, MetricId::kGpuProcesses, npu(0)), Absence::kNoPermission);
}

TEST_F(AscendSourceTest, LosesOneAndGoesOn) {
  start();
  sample_all();
  set("lost", 1);
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuLost, npu(1)), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, npu(0)), 0.84);
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceLost), 0) << "told once";
  EXPECT_EQ(find(batch, MetricId::kGpuUtil, npu(1)), nullptr);
  set("lost", 0);
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceBack), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, npu(1)), 0.84);
}

TEST_F(AscendSourceTest, SaysWhyItCannotStart) {
  set("init", -8005);
  EXPECT_FALSE(source->start());
  set("init", 0);
  set("cards", -1);
  const auto started = source->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "the Ascend driver works and shows no NPU");
  set("cards", 0);
  EXPECT_TRUE(source->start());
  make({.devices = {"9"}});
  EXPECT_FALSE(source->start());
  make({.devices = {"2", "NPU-00000001"}});
  start();
  sample_all();
  EXPECT_EQ(count_events(batch, EventKind::kDeviceFound), 2);
}

TEST(HasAscend, LooksForDevicesAndLibrary) {
  const FakeRoot root;
  EXPECT_FALSE(has_ascend(root.path()));
  root.write("/dev/davinci_manager", "");
  EXPECT_FALSE(has_ascend(root.path()));
  root.write("/dev/davinci0", "");
  EXPECT_TRUE(has_ascend(root.path()));
  const FakeRoot other;
  other.write("/usr/local/dcmi/libdcmi.so", "");
  EXPECT_TRUE(has_ascend(other.path()));
}

}  // namespace
}  // namespace pyrometer::sources::ascend
