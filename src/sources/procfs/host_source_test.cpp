#include "sources/procfs/host_source.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

const Subject kHost{.scope = Scope::kHost};
const Subject kGroup{.scope = Scope::kCgroup};
constexpr std::size_t kFastGroup = 0, kSlowGroup = 1, kOnceGroup = 2;

class HostSourceTest : public ::testing::Test {
 protected:
  HostSourceTest() {
    root.write("/proc/stat",
               "cpu  1000 0 500 8000 300 50 50 100 0 0\n"
               "cpu0 500 0 250 4000 150 25 25 50 0 0\ncpu1 500 0 250 4000 150 25 25 50 0 0\n"
               "ctxt 5000\nprocesses 100\nprocs_running 3\nprocs_blocked 2\n");
    root.write("/proc/loadavg", "4.47 3.00 2.00 3/456 789\n");
    root.write("/proc/meminfo",
               "MemTotal: 1000 kB\nMemAvailable: 600 kB\nCached: 300 kB\nShmem: 50 kB\n"
               "Dirty: 7 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  }
  Batch sample(HostSource& source, std::size_t group) {
    Batch batch;
    const auto sampled = source.sample(group, batch);
    EXPECT_TRUE(sampled) << sampled.error().to_string();
    return batch;
  }
  void put_mounts(const std::string& line) { root.write("/proc/self/mountinfo", line + "\n"); }

  FakeRoot root;
};

TEST_F(HostSourceTest, SharesOfCpuTimeNeedTwoSamples) {
  HostSource source(root.path(), -1);
  ASSERT_TRUE(source.start());
  Batch batch = sample(source, kFastGroup);
  EXPECT_EQ(absence(batch, MetricId::kHostCpuBusy, kHost), Absence::kNotYet);
  EXPECT_EQ(number(batch, MetricId::kHostRunnable, kHost), 3);
  EXPECT_EQ(number(batch, MetricId::kHostLoad1, kHost), 4.47);
  // 100 ticks user, 100 system (of which 20 for interrupts), 150 idle, 40 waiting, 10 stolen.
  root.write("/proc/stat",
             "cpu  1100 0 580 8150 340 60 60 110 0 0\ncpu0 600 0 250 4000 150 25 25 50 0 0\n");
  batch = sample(source, kFastGroup);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostCpuBusy, kHost), 0.5);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostCpuSystem, kHost), 0.25);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostCpuIowait, kHost), 0.1);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostCpuSteal, kHost), 0.025);
  EXPECT_EQ(number(batch, MetricId::kHostCoreBusy, {.scope = Scope::kCore, .part = "0"}), 1);
}

TEST_F(HostSourceTest, MissingFilesAreReasons) {
  HostSource source(root.path(), -1);
  const Batch batch = sample(source, kFastGroup);
  EXPECT_EQ(absence(batch, MetricId::kHostPressureIoSome, kHost), Absence::kNotSupported);
  EXPECT_EQ(number(batch, MetricId::kHostSwapTotal, kHost), 0) << "a true zero";
  EXPECT_EQ(number(batch, MetricId::kHostMemoryCached, kHost), 250 * 1024);
  root.remove("/proc/meminfo");
  const Batch without = sample(source, kFastGroup);
  EXPECT_EQ(absence(without, MetricId::kHostMemoryTotal, kHost), Absence::kNotSupported);
  root.remove("/proc/stat");
  Batch none;
  EXPECT_FALSE(source.sample(kFastGroup, none));
  EXPECT_FALSE(source.start());
}

TEST_F(HostSourceTest, Pressure) {
  root.write("/proc/pressure/cpu", "some avg10=1.00 avg60=0.50 avg300=0.10 total=1234\n");
  root.write(
      "/proc/pressure/io",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0 avg60=0 avg300=0 total=4\n");
  HostSource source(root.path(), -1);
  const Batch batch = sample(source, kFastGroup);
  EXPECT_EQ(number(batch, MetricId::kHostPressureCpuSome, kHost), 1234e3);
  EXPECT_EQ(number(batch, MetricId::kHostPressureIoFull, kHost), 4e3);
}

TEST_F(HostSourceTest, DisksAndNetworks) {
  root.write("/sys/block/sda/size", "1");
  root.write("/proc/diskstats",
             "8 0 sda 10 0 100 50 5 0 40 9 0 60 0\n8 1 sda1 10 0 100 50 5 0 40 9 0 60 0\n"
             "7 0 loop0 9 0 9 9 0 0 0 0 0 9 0\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n");
  root.write("/proc/net/dev",
             "Inter-| Receive\n face |bytes\n  lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
             "eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n");
  HostSource source(root.path(), -1);
  sample(source, kFastGroup);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  root.write("/proc/diskstats", "8 0 sda 20 0 300 90 5 0 40 9 0 70 0\n");
  root.write("/proc/net/dev", "eth0: 5000 1 0 1 0 0 0 0 2000 1 0 0 0 0 0 0\n");
  const Batch batch = sample(source, kFastGroup);
  const Subject sda{.scope = Scope::kDisk, .part = "sda"};
  const Subject eth0{.scope = Scope::kNetwork, .part = "eth0"};
  EXPECT_GT(*number(batch, MetricId::kDiskRead, sda), 0);
  EXPECT_EQ(number(batch, MetricId::kDiskWritten, sda), 0);
  EXPECT_EQ(number(batch, MetricId::kDiskReadLatency, sda), 4e6);
  EXPECT_GT(*number(batch, MetricId::kNetReceived, eth0), 0);
  EXPECT_EQ(number(batch, MetricId::kNetSent, eth0), 0);
  EXPECT_GT(*number(batch, MetricId::kNetErrors, eth0), 0);
  for (const Reading& reading : batch.readings) {
    EXPECT_NE(reading.subject.part, "sda1");
    EXPECT_NE(reading.subject.part, "loop0");
    EXPECT_NE(reading.subject.part, "lo");
  }
}

TEST_F(HostSourceTest, CgroupV2TakesTheTightestLimitOnTheWay) {
  root.write("/proc/77/cgroup", "0::/slice/job\n");
  put_mounts("30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw");
  root.write("/sys/fs/cgroup/slice/cpu.max", "400000 100000\n");
  root.write("/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/slice/cpu.stat",
             "usage_usec 9\nnr_periods 50\nnr_throttled 20\nthrottled_usec 3000\n");
  root.write("/sys/fs/cgroup/slice/job/cpu.stat", "usage_usec 5\nnr_periods 0\n");
  root.write("/sys/fs/cgroup/slice/memory.max", "1000000\n");
  root.write("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  root.write("/sys/fs/cgroup/slice/job/memory.high", "800000\n");
  root.write("/sys/fs/cgroup/slice/job/memory.current", "5000\n");
  root.write("/sys/fs/cgroup/slice/job/memory.events", "low 0\nhigh 3\nmax 2\noom 1\noom_kill 1\n");
  root.write("/sys/fs/cgroup/slice/job/cpuset.cpus.effective", "0-3,8\n");
  HostSource source(root.path(), 77);
  const Batch limits = sample(source, kOnceGroup);
  EXPECT_EQ(number(limits, MetricId::kCgroupVersion, kGroup), 2);
  EXPECT_EQ(text(limits, MetricId::kCgroupPath, kGroup), "/slice/job");
  EXPECT_EQ(number(limits, MetricId::kCgroupCpuQuota, kGroup), 4);
  EXPECT_EQ(number(limits, MetricId::kCgroupMemoryLimit, kGroup), 1000000);
  EXPECT_EQ(number(limits, MetricId::kCgroupMemoryHigh, kGroup), 800000);
  EXPECT_EQ(number(limits, MetricId::kCgroupCpusetCpus, kGroup), 5);
  EXPECT_EQ(absence(limits, MetricId::kCgroupPidsLimit, kGroup), Absence::kNotApplicable);
  const Batch usage = sample(source, kFastGroup);
  EXPECT_EQ(number(usage, MetricId::kCgroupCpuThrottled, kGroup), 3e6) << "where the quota is";
  EXPECT_EQ(number(usage, MetricId::kCgroupCpuUsed, kGroup), 5e3);
  EXPECT_EQ(number(usage, MetricId::kCgroupMemoryUsed, kGroup), 5000);
  EXPECT_EQ(number(usage, MetricId::kCgroupOomKills, kGroup), 1);
}

TEST_F(HostSourceTest, CgroupV1InAContainer) {
  root.write("/proc/77/cgroup", "4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n");
  put_mounts(
      "31 1 0:27 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 1 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 777\n");
  root.write("/sys/fs/cgroup/cpu/cpuacct.usage", "123456\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
  HostSource source(root.path(), 77);
  const Batch limits = sample(source, kOnceGroup);
  EXPECT_EQ(number(limits, MetricId::kCgroupVersion, kGroup), 1);
  EXPECT_EQ(number(limits, MetricId::kCgroupCpuQuota, kGroup), 1.5);
  EXPECT_EQ(absence(limits, MetricId::kCgroupMemoryLimit, kGroup), Absence::kNotApplicable);
  const Batch usage = sample(source, kFastGroup);
  EXPECT_EQ(number(usage, MetricId::kCgroupCpuThrottled, kGroup), 777);
  EXPECT_EQ(number(usage, MetricId::kCgroupCpuUsed, kGroup), 123456);
  EXPECT_EQ(number(usage, MetricId::kCgroupMemoryUsed, kGroup), 4096);
}

TEST_F(HostSourceTest, NumaAndIdentity) {
  root.write("/sys/devices/system/node/online", "0-1\n");
  root.write("/sys/devices/system/cpu/online", "0-63\n");
  for (const char* node : {"0", "1"}) {
    root.write(
        std::string("/sys/devices/system/node/node") + node + "/meminfo",
        std::string("Node ") + node + " MemTotal: 100 kB\nNode " + node + " MemFree: 40 kB\n");
  }
  root.write("/proc/cpuinfo", "processor : 0\nmodel name\t: AMD EPYC 9654\n");
  root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  HostSource source(root.path(), -1);
  const Batch once = sample(source, kOnceGroup);
  EXPECT_EQ(number(once, MetricId::kHostCpus, kHost), 64);
  EXPECT_EQ(number(once, MetricId::kHostNumaNodes, kHost), 2);
  EXPECT_EQ(text(once, MetricId::kHostCpuModel, kHost), "AMD EPYC 9654");
  EXPECT_EQ(text(once, MetricId::kHostCpuGovernor, kHost), "powersave");
  EXPECT_GE(number(once, MetricId::kHostCpusAllowed, kHost), 1);
  const Batch slow = sample(source, kSlowGroup);
  EXPECT_EQ(number(slow, MetricId::kNumaMemoryFree, {.scope = Scope::kNuma, .part = "1"}), 40960);
  EXPECT_EQ(absence(slow, MetricId::kHostShmTotal, kHost), Absence::kNotSupported);
}

TEST(CountList, Lists) {
  EXPECT_EQ(count_list("0-3,8\n"), 5U);
  EXPECT_EQ(count_list("7"), 1U);
  EXPECT_EQ(count_list(""), 0U);
  EXPECT_EQ(count_list("3-1"), std::nullopt);
  EXPECT_EQ(count_list("a"), std::nullopt);
}

// The real machine: whatever it has, no number is impossible.
TEST(HostSourceHere, ReadsThisMachine) {
  HostSource source("", -1);
  ASSERT_TRUE(source.start());
  Batch batch;
  for (const std::size_t group : {kOnceGroup, kFastGroup, kSlowGroup, kFastGroup}) {
    ASSERT_TRUE(source.sample(group, batch));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  EXPECT_GT(number(batch, MetricId::kHostMemoryTotal, kHost).value_or(0), 1e6);
  for (const Reading& reading : batch.readings) {
    const double* value = reading.value.number();
    if (value == nullptr) continue;
    const MetricInfo& metric = metric_info(reading.metric);
    EXPECT_GE(*value, 0) << metric.id;
    EXPECT_LE(*value, metric.unit == "fraction" ? 1 : 1e20) << metric.id;
  }
}

}  // namespace
}  // namespace pyrometer::sources
