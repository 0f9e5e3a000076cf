#include "tui/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tui/tui_testing.h"

namespace pyrometer::tui {
namespace {

using readout::Value;

TEST(History, KeepsTheLatestInOrder) {
  History history;
  TestSight seen(1);
  for (int i = 0; i < 5; ++i) {
    seen.snapshot->devices[0].values.insert_or_assign(MetricId::kGpuSmActive,
                                                      Value::number(i / 10.0));
    history.take(*seen.snapshot);
  }
  EXPECT_EQ(history.latest("GPU-0", Curve::kBusy, 3), (std::vector<float>{0.2F, 0.3F, 0.4F}));
  EXPECT_EQ(history.latest("GPU-0", Curve::kBusy, 99).size(), 5U);
  EXPECT_TRUE(history.latest("GPU-7", Curve::kBusy, 3).empty());
}

TEST(History, HoldsAsMuchAsItMayAndNoMore) {
  History history;
  TestSight seen(1);
  for (std::size_t i = 0; i < History::kSamples + 10; ++i) history.take(*seen.snapshot);
  EXPECT_EQ(history.latest("GPU-0", Curve::kPower, 1'000'000).size(), History::kSamples);
  const std::size_t one = history.bytes();
  for (int i = 0; i < 500; ++i) {
    seen.snapshot->devices[0] = test_device(1000 + i);
    history.take(*seen.snapshot);
  }
  EXPECT_LE(history.devices(), History::kDevices);
  EXPECT_EQ(history.bytes(), one * History::kDevices);
  EXPECT_TRUE(history.latest("GPU-0", Curve::kPower, 1).empty());
  EXPECT_EQ(history.latest("GPU-1499", Curve::kPower, 1).size(), 1U);
}

TEST(History, HasGapsWhereAGpuWasAway) {
  History history;
  TestSight both(2);
  TestSight one(1);
  history.take(*both.snapshot);
  history.take(*one.snapshot);
  history.take(*both.snapshot);
  const std::vector<float> values = history.latest("GPU-1", Curve::kTensor, 3);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_FLOAT_EQ(values[0], 0.25F);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FLOAT_EQ(values[2], 0.25F);
}

TEST(History, FallsBackToUtilizationAndScalesTraffic) {
  History history;
  TestSight seen(1);
  readout::Device& device = seen.snapshot->devices[0];
  device.values.insert_or_assign(MetricId::kGpuSmActive,
                                 Value::missing(sources::Absence::kNotSupported));
  device.values.insert_or_assign(MetricId::kGpuUtil, Value::number(0.9));
  device.values.insert_or_assign(MetricId::kGpuPcieRx, Value::number(2e9));
  history.take(*seen.snapshot);
  device.values.insert_or_assign(MetricId::kGpuPcieTx, Value::number(2e9));
  history.take(*seen.snapshot);
  EXPECT_FLOAT_EQ(history.latest("GPU-0", Curve::kBusy, 1)[0], 0.9F);
  EXPECT_EQ(history.latest("GPU-0", Curve::kPcie, 2), (std::vector<float>{0.5F, 1.0F}));
}

}  // namespace
}  // namespace pyrometer::tui
