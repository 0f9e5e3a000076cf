#include "verify/trial_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "verify/random.h"

namespace pyrometer::verify {
namespace {

// off, on, on, off, and again; `factor`: of the time with it on. Switches cost ten times a step.
std::vector<TimedStep> alternating(std::size_t block, std::size_t turns, double factor,
                                   std::size_t cut = 0) {
  Random random(5);
  std::vector<TimedStep> out;
  for (int i = 0; i < 3; ++i) out.push_back({.length = 50'000'000});
  int before = 0;
  for (std::size_t t = 0; t < turns; ++t) {
    const int variant = t % 4 == 1 || t % 4 == 2 ? 1 : 0;
    for (std::size_t i = 0; i < block; ++i) {
      const double noise = 1 + 0.02 * (random.unit() - 0.5);
      double time = 1e7 * noise * (variant == 1 ? factor : 1);
      if (i == 0 && variant != before) time *= 10;
      out.push_back({.length = std::llround(time), .samples = 8, .variant = variant});
    }
    before = variant;
  }
  out.resize(out.size() - cut);
  return out;
}

TEST(TrialSteps, TurnsGiveRatios) {
  const std::vector<double> ratios = turn_ratios(alternating(8, 16, 0.8));
  ASSERT_EQ(ratios.size(), 4u);
  for (const double ratio : ratios) EXPECT_NEAR(ratio, std::log(0.8), 0.01);
  // Of a turn that is cut off nothing counts.
  EXPECT_EQ(turn_ratios(alternating(8, 16, 0.8, 3)).size(), 3u);
  EXPECT_TRUE(turn_ratios(alternating(8, 3, 0.8)).empty());
  EXPECT_TRUE(turn_ratios({}).empty());
}

TEST(TrialSteps, RunTimeLeavesWarmUpOut) {
  std::vector<TimedStep> steps(40, {.length = 10'000'000, .samples = 5});
  for (int i = 0; i < 4; ++i) steps[static_cast<std::size_t>(i)].length = 200'000'000;
  const auto time = run_time(steps);
  ASSERT_TRUE(time);
  EXPECT_TRUE(time->per_sample);
  EXPECT_NEAR(time->ns, 2e6, 1);
  steps[20].samples = -1;
  EXPECT_FALSE(run_time(steps)->per_sample);
  EXPECT_FALSE(run_time(std::span(steps).first(4)));
}

TEST(TrialSteps, RanksWorkAtTheSameTime) {
  const std::vector<TimedStep> one(40, {.length = 10'000'000, .samples = 5});
  const std::vector<TimedStep> other(30, {.length = 10'000'000, .samples = 3});
  const auto time = job_time(std::vector{one, other});
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->ns, 10e6 / 8, 1);  // 8 samples in a step of both
  EXPECT_NEAR(time->step_ns, 10e6, 1);
  EXPECT_LT(time->steps, 30);
  EXPECT_NEAR(job_time(std::vector<std::vector<TimedStep>>{one})->ns, run_time(one)->ns, 1e-6);
  EXPECT_FALSE(job_time(std::vector{one, std::vector<TimedStep>(3, one.front())}));
  EXPECT_FALSE(job_time({}));
  std::vector<TimedStep> unknown = other;
  unknown.back().samples = -1;
  EXPECT_FALSE(job_time(std::vector{one, unknown})->per_sample);
  EXPECT_NEAR(job_time(std::vector{one, unknown})->ns, 10e6, 1);

  const auto ratios =
      job_turn_ratios(std::vector{alternating(8, 16, 0.8), alternating(8, 16, 0.6, 3)});
  ASSERT_EQ(ratios.size(), 3u);
  for (const double ratio : ratios) {
    EXPECT_NEAR(ratio, (std::log(0.8) + std::log(0.6)) / 2, 0.01);
  }
  EXPECT_EQ(mean_losses(std::vector<std::vector<double>>{{1, 2, 3}, {3, 4}}),
            (std::vector<double>{2, 3}));
  EXPECT_TRUE(mean_losses({}).empty());
}

std::vector<double> losses(double level, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> out;
  for (int i = 0; i < 40; ++i) out.push_back(level + 1.0 / (1 + i) + 0.1 * (random.unit() - 0.5));
  return out;
}

TEST(TrialSteps, LossesAreJudgedBySeeds) {
  const std::vector<std::vector<double>> seeds = {losses(2, 1), losses(2.02, 2), losses(1.99, 3)};
  const LossJudgement same = judge_losses(seeds, losses(2.01, 9));
  EXPECT_TRUE(same.known);
  EXPECT_FALSE(same.worse);
  EXPECT_TRUE(judge_losses(seeds, losses(2.5, 9)).worse);
  EXPECT_FALSE(judge_losses(seeds, losses(1.5, 9)).worse);
  // The program seeds itself: all runs alike.
  const std::vector<std::vector<double>> alike = {seeds[0], seeds[0], seeds[0]};
  EXPECT_FALSE(judge_losses(alike, seeds[0]).worse);
  EXPECT_TRUE(judge_losses(alike, losses(2.5, 9)).worse);
  EXPECT_FALSE(judge_losses(alike, std::vector<double>{1, 2}).known);
  EXPECT_FALSE(judge_losses({}, seeds[0]).known);
  const std::vector<double> nan(40, std::nan(""));
  EXPECT_TRUE(judge_losses(seeds, nan).worse);
}

}  // namespace
}  // namespace pyrometer::verify
