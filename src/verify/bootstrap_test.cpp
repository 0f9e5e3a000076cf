#include "verify/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "verify/random.h"

namespace pyrometer::verify {
namespace {

StepRow row(double ns) { return {.length = static_cast<model::DurationNs>(ns)}; }

Quotient step_time(const StepRow& r) {
  return {static_cast<double>(r.length), static_cast<double>(r.count)};
}

// Steps of 10 ms that resemble their neighbours.
Series series(std::size_t steps, double correlation, std::uint64_t seed) {
  Random random(seed);
  Series out;
  double state = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const double noise = random.unit() + random.unit() + random.unit() - 1.5;
    state = correlation * state + std::sqrt(1 - correlation * correlation) * noise;
    out.push_back(row(1e7 * (1 + 0.05 * state)));
  }
  return out;
}

TEST(Series, WarmUpIsFound) {
  Series steps = series(200, 0.3, 1);
  EXPECT_LE(find_warm_up(steps).rows, 40u);
  for (std::size_t i = 0; i < 20; ++i) steps[i].length *= 3;
  const WarmUp slow_start = find_warm_up(steps);
  EXPECT_TRUE(slow_start.over);
  EXPECT_GE(slow_start.rows, 20u);
  EXPECT_LE(slow_start.rows, 60u);
  // A pause in the middle is none.
  Series pause = series(200, 0.3, 2);
  pause[90].length *= 40;
  EXPECT_LE(find_warm_up(pause).rows, 40u);
  // Slower and slower: it never ends.
  Series growing = series(200, 0.3, 3);
  for (std::size_t i = 0; i < growing.size(); ++i) {
    growing[i].length += static_cast<model::DurationNs>(1e5 * static_cast<double>(i));
  }
  EXPECT_FALSE(find_warm_up(growing).over);
  EXPECT_EQ(find_warm_up({}).rows, 0u);
  EXPECT_EQ(find_warm_up({row(5)}).rows, 0u);
  EXPECT_EQ(find_warm_up({row(5), row(5)}).rows, 1u);
}

TEST(Series, CorrelationLength) {
  const auto length = [](double correlation) {
    std::vector<double> values;
    for (const StepRow& r : series(4000, correlation, 5)) {
      values.push_back(static_cast<double>(r.length));
    }
    return correlation_length(values);
  };
  EXPECT_NEAR(length(0), 1, 0.3);
  EXPECT_NEAR(length(0.8), 9, 3);  // (1 + 0.8) / (1 - 0.8)
}

TEST(Series, ThinningKeepsSums) {
  const Series all = series(1000, 0, 3);
  const Series few = thinned(all, 100);
  EXPECT_LE(few.size(), 100u);
  EXPECT_DOUBLE_EQ(mean_step(few), mean_step(all));
}

TEST(Bootstrap, SameInputSameInterval) {
  const std::vector<Series> one = {series(300, 0.5, 1)};
  const Interval a = interval_of(resample(one, step_time, 7));
  EXPECT_EQ(a, interval_of(resample(one, step_time, 7)));
  EXPECT_TRUE(a.known);
  EXPECT_LT(a.low, a.value);
  EXPECT_GT(a.high, a.value);
}

TEST(Bootstrap, IntervalsHoldTheTruth) {
  // Also of series whose steps resemble their neighbours, where the plain bootstrap misses often.
  for (const double correlation : {0.0, 0.7}) {
    int missed = 0;
    constexpr int kTimes = 200;
    for (std::uint64_t seed = 0; seed < kTimes; ++seed) {
      const std::vector<Series> a = {series(150, correlation, 2 * seed + 1)};
      const std::vector<Series> b = {series(150, correlation, 2 * seed + 2)};
      const Interval ratio = ratio_interval(resample(a, step_time, 1), resample(b, step_time, 2));
      ASSERT_TRUE(ratio.known);
      missed += ratio.low <= 1 && 1 <= ratio.high ? 0 : 1;
    }
    EXPECT_LE(missed, kTimes * 7 / 100) << correlation;
  }
}

TEST(Bootstrap, TooFewStepsGiveNoInterval) {
  const std::vector<Series> one = {series(3, 0, 1)};
  const Interval few = interval_of(resample(one, step_time, 7));
  EXPECT_FALSE(few.known);
  EXPECT_GT(few.value, 0);
  EXPECT_FALSE(interval_of(resample({}, step_time, 7)).known);
  EXPECT_FALSE(mean_interval(std::vector<double>{1}).known);
}

TEST(Bootstrap, MeanOfManyIsNotMovedByOutliers) {
  std::vector<double> values;
  Random random(3);
  for (int i = 0; i < 40; ++i) values.push_back(0.1 + 0.01 * random.unit());
  values[5] = 5;
  values[17] = -4;
  const Interval mean = mean_interval(values);
  EXPECT_NEAR(mean.value, 0.105, 0.002);
  EXPECT_LT(mean.high - mean.low, 0.1);
}

// Two runs of which one gets slower differ, but who says that the next run will not?
TEST(Bootstrap, DriftWidens) {
  Series steady = series(600, 0.3, 21);
  Series drifting = series(600, 0.3, 22);
  for (std::size_t i = 0; i < drifting.size(); ++i) {
    drifting[i].length += static_cast<model::DurationNs>(1e3 * static_cast<double>(i));
  }
  const Replicates a = resample(std::vector<Series>{steady}, step_time, 1);
  const Replicates b = resample(std::vector<Series>{drifting}, step_time, 2);
  EXPECT_LT(a.drift, 0.01 * a.value);
  EXPECT_GT(b.drift, 0.03 * b.value);
  EXPECT_LT(ratio_interval(a, b).low, 1);
  // A difference that is larger than the drift is seen all the same.
  for (StepRow& one : drifting) one.length = one.length * 5 / 4;
  EXPECT_GT(ratio_interval(a, resample(std::vector<Series>{drifting}, step_time, 2)).low, 1);
}

}  // namespace
}  // namespace pyrometer::verify
