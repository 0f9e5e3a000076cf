#include "readout/board.h"

#include <gtest/gtest.h>

namespace pyrometer::readout {
namespace {

using sources::Batch;
using sources::Scope;
using sources::Subject;

Subject gpu(std::int32_t number) { return {.scope = Scope::kDevice, .device = number}; }
Subject process(std::int32_t number, std::int32_t pid) {
  return {.scope = Scope::kDeviceProcess, .device = number, .pid = pid};
}

Batch batch(std::string_view group, std::string_view source = "nvml") {
  Batch made;
  made.source = source;
  made.group = group;
  return made;
}

void put(Batch& to, MetricId metric, const Subject& subject, double number) {
  to.put(metric, subject, 0, Value::number(number));
}

TEST(Board, KeepsWhatOtherGroupsTold) {
  Board board;
  Batch slow = batch("slow");
  put(slow, MetricId::kGpuIndex, gpu(0), 0);
  put(slow, MetricId::kGpuPowerLimit, gpu(0), 700);
  board.take(slow);
  for (const double util : {10.0, 20.0}) {
    Batch fast = batch("fast");
    put(fast, MetricId::kGpuUtil, gpu(0), util);
    board.take(fast);
    ASSERT_EQ(board.devices().size(), 1U);
    EXPECT_EQ(number_of(board.devices()[0], MetricId::kGpuUtil), util);
    EXPECT_EQ(number_of(board.devices()[0], MetricId::kGpuPowerLimit), 700);
  }
}

TEST(Board, TakesAGreatManyProcesses) {
  Board board;
  Batch slow = batch("slow");
  constexpr int kMany = 20'000;
  put(slow, MetricId::kGpuProcesses, gpu(0), kMany);
  for (int pid = kMany; pid > 0; --pid) {
    put(slow, MetricId::kGpuProcessMemory, process(0, pid), pid);
    put(slow, MetricId::kGpuProcessCompute, process(0, pid), 1);
  }
  board.take(slow);
  const std::vector<Device> devices = board.devices();
  ASSERT_EQ(devices[0].processes.size(), std::size_t{kMany});
  for (const int pid : {1, 4711, kMany}) {
    const Process& one = devices[0].processes[static_cast<std::size_t>(pid - 1)];
    EXPECT_EQ(one.pid, pid);
    EXPECT_EQ(*one.memory.number(), pid);
  }
}

TEST(Board, ReplacesTheProcessesOfAGpuAsAWhole) {
  Board board;
  Batch first = batch("slow");
  put(first, MetricId::kGpuProcesses, gpu(0), 2);
  put(first, MetricId::kGpuProcessMemory, process(0, 12), 5);
  put(first, MetricId::kGpuProcessMemory, process(0, 7), 5);
  put(first, MetricId::kGpuProcessMemory, process(1, 8), 5);
  board.take(first);
  ASSERT_EQ(board.devices()[0].processes.size(), 2U);
  EXPECT_EQ(board.devices()[0].processes[0].pid, 7);
  Batch second = batch("slow");
  put(second, MetricId::kGpuProcesses, gpu(0), 0);
  board.take(second);
  EXPECT_TRUE(board.devices()[0].processes.empty());
  EXPECT_EQ(board.devices()[1].processes.size(), 1U) << "it was not asked for its processes";
}

TEST(Board, DropsDevicesThatAreGone) {
  Board board;
  Batch both = batch("fast");
  put(both, MetricId::kGpuUtil, gpu(0), 1);
  put(both, MetricId::kGpuUtil, gpu(1), 1);
  board.take(both);
  Batch other = batch("fast", "amd");
  put(other, MetricId::kGpuUtil, gpu(0), 33);
  board.take(other);
  EXPECT_EQ(board.devices().size(), 3U);
  Batch one = batch("fast");
  put(one, MetricId::kGpuUtil, gpu(1), 2);
  board.take(one);
  ASSERT_EQ(board.devices().size(), 2U);
  EXPECT_EQ(number_of(board.devices()[0], MetricId::kGpuUtil), 2);
  EXPECT_EQ(number_of(board.devices()[1], MetricId::kGpuUtil), 33);
  board.forget("nvml");
  ASSERT_EQ(board.devices().size(), 1U);
  EXPECT_EQ(number_of(board.devices()[0], MetricId::kGpuUtil), 33);
}

TEST(Board, ShowsNoOldReadingsOfALostGpu) {
  Board board;
  Batch before = batch("fast");
  put(before, MetricId::kGpuIndex, gpu(0), 0);
  put(before, MetricId::kGpuLost, gpu(0), 0);
  put(before, MetricId::kGpuPower, gpu(0), 650);
  put(before, MetricId::kGpuProcesses, gpu(0), 1);
  put(before, MetricId::kGpuProcessMemory, process(0, 7), 5);
  before.put(MetricId::kGpuUuid, gpu(0), 0, Value::text("GPU-1"));
  board.take(before);
  Batch lost = batch("fast");
  put(lost, MetricId::kGpuLost, gpu(0), 1);
  board.take(lost);
  const Device device = board.devices().at(0);
  EXPECT_EQ(device.state, DeviceState::kLost);
  EXPECT_EQ(number_of(device, MetricId::kGpuPower), std::nullopt);
  EXPECT_EQ(value_of(device, MetricId::kGpuPower).reason(),
            "the GPU is lost: it has fallen off the bus");
  EXPECT_TRUE(device.processes.empty());
  EXPECT_EQ(text_of(device, MetricId::kGpuUuid), "GPU-1");
  EXPECT_EQ(label_of(device), "0");
  EXPECT_EQ(board.uuid_of("nvml", 0), "GPU-1");
  EXPECT_EQ(board.uuid_of("amd", 0), "");
  board.take(before);
  EXPECT_EQ(board.devices()[0].state, DeviceState::kOk);
}

TEST(Board, ShowsAProcessAtItsInstance) {
  Board board;
  Batch told = batch("slow");
  for (const std::int32_t number : {0, 1}) {
    put(told, MetricId::kGpuIndex, gpu(number), 3);
    put(told, MetricId::kGpuProcesses, gpu(number), 1);
    put(told, MetricId::kGpuProcessMemory, process(number, 7), 5);
  }
  told.put(MetricId::kGpuParentUuid, gpu(1), 0, Value::text("GPU-1"));
  told.put(MetricId::kGpuName, gpu(1), 0, Value::text("NVIDIA H200 MIG 1g.18gb"));
  board.take(told);
  const auto devices = board.devices();
  EXPECT_TRUE(devices[0].processes.empty());
  EXPECT_EQ(devices[1].processes.size(), 1U);
  EXPECT_EQ(text_of(devices[1], MetricId::kGpuMigProfile), "1g.18gb");
}

}  // namespace
}  // namespace pyrometer::readout
