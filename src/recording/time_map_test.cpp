#include "recording/time_map.h"

#include <gtest/gtest.h>

namespace pyrometer::recording {
namespace {

TEST(TimeMap, IsTheIdentityWithoutWindows) {
  const TimeMap map;
  EXPECT_EQ(map.map(123), 123);
  EXPECT_TRUE(map.keeps(-5));
}

TEST(TimeMap, JoinsWindowsIntoContinuousTime) {
  const TimeMap map({{300, 400}, {100, 200}});
  EXPECT_EQ(map.map(50), 100);   // before the first: its start
  EXPECT_EQ(map.map(150), 150);  // inside: as it is
  EXPECT_EQ(map.map(200), 200);
  EXPECT_EQ(map.map(250), 200);  // between: the seam
  EXPECT_EQ(map.map(300), 200);
  EXPECT_EQ(map.map(350), 250);
  EXPECT_EQ(map.map(999), 300);  // after the last: its end
  EXPECT_TRUE(map.keeps(100));
  EXPECT_FALSE(map.keeps(200));
  EXPECT_FALSE(map.keeps(299));
}

TEST(TimeMap, JoinsWindowsThatTouchOrOverlap) {
  const TimeMap map({{100, 200}, {200, 250}, {240, 300}, {500, 500}});
  ASSERT_EQ(map.windows().size(), 1U);
  EXPECT_EQ(map.windows().front(), (model::Interval{100, 300}));
}

TEST(TimeMap, NeverGoesBack) {
  const TimeMap map({{10, 20}, {35, 36}, {50, 80}});
  for (model::TimeNs t = 0; t < 100; ++t) {
    EXPECT_LE(map.map(t), map.map(t + 1));
    EXPECT_LE(map.map(t + 1) - map.map(t), 1);
  }
  EXPECT_EQ(map.map(100) - map.map(0), 10 + 1 + 30);
}

}  // namespace
}  // namespace pyrometer::recording
