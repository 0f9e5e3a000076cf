#include "analysis/statistics.h"

#include <gtest/gtest.h>

#include "analysis/nearly_sorted.h"
#include "analysis/periods.h"

namespace pyrometer::analysis {
namespace {

using Durations = std::vector<model::DurationNs>;

TEST(Percentile, IsTheNearestRank) {
  Durations values = {50, 10, 40, 20, 30};
  EXPECT_EQ(percentile(values, 50), 30);
  EXPECT_EQ(percentile(values, 95), 50);
  EXPECT_EQ(percentile(values, 20), 10);
  EXPECT_EQ(percentile(values, 21), 20);
  Durations twenty;
  for (int i = 1; i <= 20; ++i) twenty.push_back(i);
  EXPECT_EQ(percentile(twenty, 95), 19);
  EXPECT_EQ(percentile(twenty, 100), 20);
}

TEST(Percentile, OfNothingAndOne) {
  Durations none;
  EXPECT_EQ(percentile(none, 50), 0);
  Durations one = {7};
  EXPECT_EQ(percentile(one, 1), 7);
  EXPECT_EQ(percentile(one, 100), 7);
}

TEST(Summarise, AddsUp) {
  Durations values = {3, 1, 2, 0};
  const auto stats = summarise(values);
  EXPECT_EQ(stats.count, 4);
  EXPECT_EQ(stats.total, 6);
  EXPECT_EQ(stats.mean, 1);
  EXPECT_EQ(stats.p50, 1);
  EXPECT_EQ(stats.p95, 3);
  EXPECT_EQ(stats.max, 3);
}

TEST(Median, EvenAndOdd) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
}

TEST(RobustSlope, IgnoresOutliers) {
  EXPECT_EQ(robust_slope({}), 0);
  EXPECT_EQ(robust_slope(std::vector<double>{5}), 0);
  std::vector<double> line;
  for (int i = 0; i < 50; ++i) line.push_back(3.0 * i + 100);
  line[10] = 1e9;
  line[30] = -1e9;
  EXPECT_DOUBLE_EQ(robust_slope(line), 3.0);
}

TEST(RobustSlope, LongSeriesKeepTheirScale) {
  std::vector<double> line;
  for (int i = 0; i < 5000; ++i) line.push_back(2.0 * i);
  EXPECT_DOUBLE_EQ(robust_slope(line), 2.0);
}

TEST(NearlySorted, SortsWhateverTheOrder) {
  std::vector<int> slightly = {1, 3, 2, 4, 6, 5, 7};
  std::vector<int> backwards;
  for (int i = 0; i < 1000; ++i) backwards.push_back(1000 - i);
  sort_nearly_sorted(slightly, std::less<>());
  sort_nearly_sorted(backwards, std::less<>());
  EXPECT_TRUE(std::is_sorted(slightly.begin(), slightly.end()));
  EXPECT_TRUE(std::is_sorted(backwards.begin(), backwards.end()));
  EXPECT_EQ(backwards.front(), 1);
  EXPECT_EQ(backwards.back(), 1000);
}

TEST(EvenSpacing, NeedsTwoAndNoGap) {
  EXPECT_EQ(even_spacing({}, 10), 0U);
  EXPECT_EQ(even_spacing({3}, 10), 0U);
  EXPECT_EQ(even_spacing({4, 9}, 12), 5U);
  EXPECT_EQ(even_spacing({4, 9, 15}, 20), 0U);  // 5, then 6
  EXPECT_EQ(even_spacing({5, 10}, 12), 0U);     // one was due at 0
  EXPECT_EQ(even_spacing({0, 5}, 12), 0U);      // one was due at 10
  EXPECT_EQ(even_spacing({0, 5, 10}, 12), 5U);
}

}  // namespace
}  // namespace pyrometer::analysis
