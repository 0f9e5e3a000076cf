#include "model/time_outliers.h"

#include <gtest/gtest.h>

#include "model/timeline_builder.h"

namespace pyrometer::model {
namespace {

constexpr TimeNs kNow = 1'700'000'000'000'000'000;
constexpr DurationNs kDay = 86'400'000'000'000;

// Kernels of 1 µs at the given times, and an operator before each.
RankTimeline timeline_at(const std::vector<TimeNs>& times) {
  TimelineBuilder builder;
  const NameId name = builder.timeline().names.intern("x");
  for (const TimeNs at : times) {
    builder.add_activity(ActivityKind::kKernel, at, at + 1000, name, builder.device(0), 7, 0);
    builder.add_host_op(at - 10, at + 10, name, builder.thread(1, "1"));
  }
  return builder.finish();
}

std::vector<TimeNs> normal_times() {
  std::vector<TimeNs> times;
  for (TimeNs i = 0; i < 20; ++i) times.push_back(kNow + i * 1'000'000);
  return times;
}

TEST(TimeOutliers, AreLeftOutAndCounted) {
  for (const TimeNs odd : {TimeNs{0}, kNow + 365 * kDay, TimeNs{-5}, kNow - 30 * kDay}) {
    std::vector<TimeNs> times = normal_times();
    times.insert(times.begin() + 3, odd);
    const RankTimeline t = timeline_at(times);
    EXPECT_EQ(t.activities.size(), 20U);
    EXPECT_EQ(t.host_ops.size(), 20U);
    EXPECT_EQ(t.activities.start.front(), kNow);
    ASSERT_EQ(t.stats.counters().size(), 1U);
    EXPECT_EQ(t.stats.counters()[0].kind, "outlying_time");
    EXPECT_EQ(t.stats.counters()[0].count, 2);
    EXPECT_TRUE(t.stats.lost_data());
  }
}

TEST(TimeOutliers, AnEndFarAwayIsOneToo) {
  TimelineBuilder builder;
  const NameId name = builder.timeline().names.intern("x");
  for (const TimeNs at : normal_times()) {
    const bool odd = at == kNow + 5'000'000;
    builder.add_activity(ActivityKind::kKernel, at, at + (odd ? 400 * kDay : 1000), name,
                         builder.device(0), 7, 0);
  }
  EXPECT_EQ(builder.finish().activities.size(), 19U);
}

TEST(TimeOutliers, WhatMayBeRightStays) {
  std::vector<TimeNs> night = normal_times();  // a pause of a night
  night.push_back(kNow + kDay / 2);
  EXPECT_EQ(timeline_at(night).activities.size(), night.size());
  std::vector<TimeNs> halves = normal_times();  // nothing says which half is right
  for (const TimeNs at : normal_times()) halves.push_back(at + 300 * kDay);
  EXPECT_EQ(timeline_at(halves).activities.size(), halves.size());
  EXPECT_EQ(timeline_at({0, 1'000'000'000}).activities.size(), 2U);
  EXPECT_EQ(timeline_at({0, kNow}).activities.size(), 2U);
  EXPECT_EQ(timeline_at({}).activities.size(), 0U);
}

}  // namespace
}  // namespace pyrometer::model
