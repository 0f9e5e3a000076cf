#include "monitor/duty_cycle.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pyrometer::monitor {
namespace {

constexpr double kSecond = 1e9;

// A run of `seconds` whose steps take `step_ms`, and `cost` more while they are watched. `drift`:
// the machine grows slower by this share over the run. `noise`: spread of single steps.
struct Simulation {
  double step_ms = 10;
  double cost = 0.03;
  double drift = 0;
  double noise = 0.02;
  double seconds = 120;
};

model::OverheadEstimate simulate(DutyCycle& duty, const Simulation& s, double* spent = nullptr) {
  std::uint32_t random = 7;
  const auto uniform = [&random] {
    random = random * 1664525U + 1013904223U;
    return static_cast<double>(random >> 8U) / (1U << 24U) - 0.5;
  };
  double now = kSecond;
  bool on = true;
  double extra = 0;
  double plain_sum = 0;
  while (now < (s.seconds + 1) * kSecond) {
    const double plain =
        s.step_ms * 1e6 * (1 + s.drift * now / (s.seconds * kSecond)) * (1 + s.noise * uniform());
    const double length = on ? plain * (1 + s.cost) : plain;
    extra += length - plain;
    plain_sum += plain;
    const auto begin = static_cast<model::TimeNs>(now);
    now += length;
    duty.add_step({begin, static_cast<model::TimeNs>(now)}, on, false);
    on = duty.want_on(static_cast<model::TimeNs>(now));
  }
  if (spent != nullptr) *spent = extra / plain_sum;
  return duty.estimate();
}

TEST(DutyCycle, MeasuresWhatWatchingCosts) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.cost = 0.03});
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.ratio, 0.03, 0.005);
  EXPECT_LT(found.low, 0.03);
  EXPECT_GT(found.high, 0.03);
}

TEST(DutyCycle, StaysWithinTheBudget) {
  double spent = 0;
  DutyCycle duty(0.005);
  (void)simulate(duty, {.cost = 0.04, .seconds = 1200}, &spent);
  EXPECT_LT(spent, 0.0075);
  EXPECT_GT(spent, 0.001);
}

TEST(DutyCycle, WatchesNearlyAlwaysWhatCostsNothing) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.cost = 0, .seconds = 600});
  ASSERT_TRUE(found.measured);
  EXPECT_GT(found.duty, 0.8);
  EXPECT_LE(found.low, 0);
  EXPECT_GE(found.high, 0);
}

TEST(DutyCycle, IsNotFooledByAMachineThatGrowsSlower) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.cost = 0.02, .drift = 0.4, .seconds = 300});
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.ratio, 0.02, 0.01);
}

TEST(DutyCycle, SaysSoWhenTheRunIsTooShort) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.seconds = 5});
  EXPECT_FALSE(found.measured);
  EXPECT_FALSE(found.why_not.empty());
  EXPECT_EQ(found.duty, 1);
}

TEST(DutyCycle, WithoutABudgetWatchesAlways) {
  DutyCycle duty(0);
  const auto found = simulate(duty, {.cost = 0.5});
  EXPECT_FALSE(found.measured);
  EXPECT_EQ(found.duty, 1);
}

TEST(DutyCycle, MeasuresLongStepsToo) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.step_ms = 900, .cost = 0.05, .seconds = 900});
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.ratio, 0.05, 0.015);
}

}  // namespace
}  // namespace pyrometer::monitor
