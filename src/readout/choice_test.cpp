#include "readout/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "readout/visible.h"

namespace pyrometer::readout {
namespace {

using ::testing::ElementsAre;

constexpr double kGib = 1 << 30;

Device gpu(int number, const std::string& vendor = "NVIDIA") {
  Device device;
  device.values.emplace(MetricId::kGpuIndex, Value::number(number));
  device.values.emplace(MetricId::kGpuUuid, Value::text("GPU-" + vendor + std::to_string(number)));
  device.values.emplace(MetricId::kGpuVendor, Value::text(vendor));
  device.values.emplace(MetricId::kGpuMemoryTotal, Value::number(80 * kGib));
  device.values.emplace(MetricId::kGpuMemoryUsed, Value::number(1 * kGib));
  device.values.emplace(MetricId::kGpuMemoryFree, Value::number(79 * kGib));
  device.values.emplace(MetricId::kGpuUtil, Value::number(0));
  return device;
}

void set(Device& device, MetricId metric, double number) {
  device.values.insert_or_assign(metric, Value::number(number));
}

Snapshot machine(std::vector<Device> devices) {
  Snapshot snapshot;
  snapshot.devices = std::move(devices);
  return snapshot;
}

Environment with(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Judge, TheHighestOfAllLooksCounts) {
  Snapshot snapshot = machine({gpu(0)});
  Judge judge({});
  set(snapshot.devices[0], MetricId::kGpuUtil, 0.9);
  judge.look(snapshot);
  set(snapshot.devices[0], MetricId::kGpuUtil, 0);
  judge.look(snapshot);
  EXPECT_THAT(judge.judge(snapshot)[0].objections, ElementsAre("90% busy, at most 10% wanted"));
}

TEST(Judge, WatchesOnlyWhatMayBeInUse) {
  Snapshot snapshot = machine({gpu(0)});
  Judge judge({});
  judge.look(snapshot);
  EXPECT_FALSE(judge.wants_more(snapshot, judge.judge(snapshot)));
  set(snapshot.devices[0], MetricId::kGpuMemoryUsed, 10 * kGib);
  EXPECT_TRUE(judge.wants_more(snapshot, judge.judge(snapshot)));
}

TEST(Judge, WhatDrawsIsNoReason) {
  Snapshot snapshot = machine({gpu(0)});
  snapshot.devices[0].processes.push_back({.pid = 7, .computes = false});
  EXPECT_TRUE(Judge({}).judge(snapshot)[0].fits());
  snapshot.devices[0].processes.push_back({.pid = 8, .computes = true});
  EXPECT_THAT(Judge({}).judge(snapshot)[0].objections, ElementsAre("process 8 computes on it"));
}

TEST(Judge, UnknownValuesGoLast) {
  Snapshot snapshot = machine({gpu(0), gpu(1), gpu(2)});
  set(snapshot.devices[1], MetricId::kGpuPower, 200);
  set(snapshot.devices[2], MetricId::kGpuPower, 100);
  const Judge judge({.order = Order::kPower});
  EXPECT_THAT(judge.ranked(snapshot, judge.judge(snapshot)), ElementsAre(2, 1, 0));
}

TEST(Judge, WithoutKnownMemoryNoAmountIsPromised) {
  Snapshot snapshot = machine({gpu(0)});
  snapshot.devices[0].values.erase(MetricId::kGpuMemoryFree);
  snapshot.devices[0].values.erase(MetricId::kGpuMemoryUsed);
  EXPECT_THAT(Judge({.min_free = 1.0}).judge(snapshot)[0].objections,
              ElementsAre("free memory unknown"));
}

TEST(Visible, HipCountsWhatRocrLeaves) {
  const Snapshot snapshot = machine({gpu(0, "AMD"), gpu(1, "AMD"), gpu(2, "AMD")});
  const auto hidden =
      hidden_by(snapshot, with({{"ROCR_VISIBLE_DEVICES", "2,1"}, {"HIP_VISIBLE_DEVICES", "0"}}));
  EXPECT_THAT(hidden, ElementsAre("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", ""));
}

TEST(Visible, EachMakerHasItsVariable) {
  const Snapshot snapshot = machine({gpu(0), gpu(0, "AMD"), gpu(0, "Huawei")});
  EXPECT_THAT(hidden_by(snapshot, with({{"CUDA_VISIBLE_DEVICES", ""}})),
              ElementsAre("CUDA_VISIBLE_DEVICES", "", ""));
  EXPECT_EQ(grant(snapshot, {2}, Ids::kUuid, true).value, "0");
}

TEST(Visible, ALostGpuMakesNumbersUnsure) {
  Snapshot snapshot = machine({gpu(0), gpu(1)});
  EXPECT_EQ(grant(snapshot, {1}, Ids::kAuto, true).value, "1");
  EXPECT_EQ(grant(snapshot, {1}, Ids::kAuto, false).value, "GPU-NVIDIA1");
  snapshot.devices[0].state = DeviceState::kLost;
  EXPECT_EQ(grant(snapshot, {1}, Ids::kAuto, true).value, "GPU-NVIDIA1");
}

TEST(Visible, OddListsHideAllButWhatStandsBeforeTheMistake) {
  const Snapshot snapshot = machine({gpu(0), gpu(1)});
  for (const char* list : {"-1", "NoDevFiles", "9,0", "99999999999999999999", ",0"}) {
    EXPECT_THAT(hidden_by(snapshot, with({{"CUDA_VISIBLE_DEVICES", list}})),
                ElementsAre("CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"))
        << list;
  }
  EXPECT_THAT(hidden_by(snapshot, with({{"CUDA_VISIBLE_DEVICES", " 1 , -1, 0"}})),
              ElementsAre("CUDA_VISIBLE_DEVICES", ""));
}

}  // namespace
}  // namespace pyrometer::readout
