#include "readout/snapshot.h"

#include <gtest/gtest.h>

#include "readout/depth.h"

namespace pyrometer::readout {
namespace {

Device gpu(std::initializer_list<std::pair<MetricId, double>> numbers) {
  Device device;
  for (const auto& [metric, number] : numbers) {
    device.values.insert_or_assign(metric, Value::number(number));
  }
  return device;
}

std::string words_of(const Device& device) {
  std::string words;
  for (const ThrottleWord& word : throttled_by(device)) words.append(word.id).append(" ");
  return words;
}

TEST(Snapshot, SaysWhyAValueIsMissing) {
  Device device;
  EXPECT_EQ(value_of(device, MetricId::kGpuUtil).reason(), "not available: it was not read");
  EXPECT_EQ(value_of(device, MetricId::kGpuPcieTx).reason(), "needs a second sample");
  EXPECT_EQ(value_of(device, MetricId::kGpuParentUuid).reason(),
            "does not apply: of MIG instances, not of a whole GPU");
  device.is_mig = true;
  EXPECT_EQ(value_of(device, MetricId::kGpuPower).reason(),
            "does not apply: of the whole GPU, not of a MIG instance");
  device.state = DeviceState::kLost;
  EXPECT_EQ(value_of(device, MetricId::kGpuPower).reason(),
            "the GPU is lost: it has fallen off the bus");
}

TEST(Snapshot, TellsWhatThrottles) {
  EXPECT_EQ(words_of(gpu({{MetricId::kGpuThrottleIdle, 1}})), "");
  EXPECT_EQ(words_of(gpu({{MetricId::kGpuThrottlePowerCap, 1}})), "power_cap ");
  EXPECT_EQ(words_of(gpu({{MetricId::kGpuThrottleHwSlowdown, 1}})), "hw_slowdown ");
  EXPECT_EQ(
      words_of(gpu({{MetricId::kGpuThrottleHwSlowdown, 1}, {MetricId::kGpuThrottleHwThermal, 1}})),
      "hw_thermal ");
}

TEST(Snapshot, KnowsItsNames) {
  Device device = gpu({{MetricId::kGpuIndex, 3}});
  device.values.insert_or_assign(MetricId::kGpuUuid, Value::text("GPU-8f3b-11"));
  device.values.insert_or_assign(MetricId::kGpuPciId, Value::text("0000:3b:00.0"));
  EXPECT_EQ(label_of(device), "3");
  for (const char* name : {"3", "GPU-8f3b", "0000:3b:00.0", "00000000:3B:00.0"}) {
    EXPECT_TRUE(is_called(device, name)) << name;
  }
  for (const char* name : {"33", "GPU-9", "0000:3c:00.0", "MIG-8f3b"}) {
    EXPECT_FALSE(is_called(device, name)) << name;
  }
  device.is_mig = true;
  EXPECT_FALSE(is_called(device, "3")) << "its GPU is";
  EXPECT_EQ(label_of(device), "3/?/?");
}

TEST(Depth, AsksForNoMoreThanNeeded) {
  EXPECT_EQ(depth_for(MetricId::kGpuUtil), Depth::kBrief);
  EXPECT_EQ(depth_for(MetricId::kGpuThrottleMask), Depth::kBrief);
  EXPECT_EQ(depth_for(MetricId::kGpuComputeMode), Depth::kBrief);
  EXPECT_EQ(depth_for(MetricId::kGpuEnergy), Depth::kFull);
  EXPECT_EQ(depth_for(MetricId::kGpuPersistence), Depth::kFull);
  EXPECT_EQ(depth_for(MetricId::kGpuRemapPending), Depth::kFull);
  EXPECT_EQ(depth_for(MetricId::kGpuProcesses), Depth::kBrief);
  EXPECT_EQ(depth_for(MetricId::kGpuTensorActive), Depth::kTwice);
}

}  // namespace
}  // namespace pyrometer::readout
