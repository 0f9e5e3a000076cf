#include "tune/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pyrometer::tune {
namespace {

using ::testing::ElementsAre;

Measurement measured(std::uint32_t batch, double step_ns, double samples) {
  return {
      .point = {batch}, .rung = 2, .steps = 20, .step_ns = step_ns, .samples_per_step = samples};
}

TEST(Objective, CostsAreOfSamples) {
  Measurement one = measured(0, 2e9, 4);
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerSecond), 5e8);
  EXPECT_EQ(cost_of(one, Objective::kStepsPerSecond), 2e9);
  EXPECT_DOUBLE_EQ(objective_of(5e8, Objective::kSamplesPerSecond), 2);
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerUsd), std::nullopt);
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerJoule), std::nullopt);
  EXPECT_EQ(cost_of(one, Objective::kTimeToLoss), std::nullopt);
  one.usd_per_gpu_hour = 3.6;
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerUsd), std::nullopt);  // no GPU
  one.gpus = 2;
  EXPECT_NEAR(*cost_of(one, Objective::kSamplesPerUsd), 0.001, 1e-12);
  one.joules_per_step = 100;
  EXPECT_DOUBLE_EQ(*cost_of(one, Objective::kSamplesPerJoule), 25);
  EXPECT_DOUBLE_EQ(objective_of(25, Objective::kSamplesPerJoule), 0.04);
  one.seconds_to_loss = 7;
  EXPECT_EQ(cost_of(one, Objective::kTimeToLoss), 7);
  one.samples_per_step.reset();
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerSecond), std::nullopt);
  EXPECT_EQ(cost_of(one, Objective::kSamplesPerUsd), std::nullopt);
}

TEST(LossCourse, TakesTheMeanOfSteps) {
  std::vector<double> losses;
  std::vector<model::TimeNs> ends;
  for (int i = 0; i < 40; ++i) {
    // One lucky step is not yet there.
    losses.push_back(i == 12 ? 0.0 : 2.0 - 0.05 * i);
    ends.push_back(1'000'000'000LL * (i + 1));
  }
  const LossCourse course = course_of(losses, ends, 0, 0.5);
  ASSERT_TRUE(course.reached_s && course.smoothed);
  // The mean of steps i-9..i is 2 - 0.05 (i - 4.5): at most 0.5 from i = 35 on.
  EXPECT_DOUBLE_EQ(*course.reached_s, 36);
  EXPECT_NEAR(*course.smoothed, 2 - 0.05 * 34.5, 1e-9);
  EXPECT_FALSE(course_of(losses, ends, 0, 0.1).reached_s);
  EXPECT_FALSE(course_of(losses, ends, 0, std::nullopt).reached_s);
  const std::vector<double> few(kSmoothedSteps - 1, 0.1);
  EXPECT_FALSE(course_of(few, ends, 0, 0.5).smoothed);
}

TEST(Arrange, LongestTrialOfEachBestFirst) {
  TuneResult result;
  result.space = *parse_space("batch=1,2,4,8,16");
  result.first = {0};
  Measurement early = measured(1, 1e6, 2);
  early.rung = 0;
  early.step_ns = 9e6;
  result.all = {measured(0, 1e6, 1), early, measured(1, 1e6, 2)};
  result.all.push_back({.point = {3}, .outcome = Outcome::kOutOfMemory, .reason = "oom"});
  result.all.push_back({.point = {4}, .outcome = Outcome::kExcluded});
  result.all[0].peak_memory = 10;
  result.all[2].peak_memory = 20;
  arrange(result);
  ASSERT_EQ(result.tried.size(), 4U);
  EXPECT_THAT(result.tried[0].last.point, ElementsAre(1));
  EXPECT_EQ(result.tried[0].trials, 2U);
  EXPECT_EQ(result.tried[0].cost, 5e5);
  EXPECT_THAT(result.tried[1].last.point, ElementsAre(0));
  EXPECT_EQ(result.tried[2].last.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(result.tried[3].last.outcome, Outcome::kExcluded);
  EXPECT_EQ(result.tried[3].trials, 0U);
  // More memory for more throughput: both on the front, the cheapest first.
  ASSERT_EQ(result.fronts.size(), 1U);
  EXPECT_EQ(result.fronts[0].id, "peak_memory_bytes");
  EXPECT_THAT(result.fronts[0].members, ElementsAre(1, 0));
}

}  // namespace
}  // namespace pyrometer::tune
