#include "monitor/duty_cycle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

namespace pyrometer::monitor {
namespace {

constexpr double kSecond = 1e9;

// A run of `seconds` whose steps take `step_ms`, and `cost` more while they are watched. `drift`:
// the machine grows slower by this share over the run. `noise`: spread of single steps. As in a
// real run, steps are told of two seconds after their end, what is wanted is asked for twice a
// second, and done `switch_ms` later, in the middle of a step, which takes `switch_cost_ms` more.
struct Simulation {
  double step_ms = 10;
  double cost = 0.03;
  double drift = 0;
  double noise = 0.02;
  double seconds = 120;
  double switch_ms = 200;
  double switch_cost_ms = 0;
  double spells = 0;  // share of the seconds in which the machine is busy with something else
};

class Run {
 public:
  Run(DutyCycle& duty, const Simulation& s) : duty_(duty), s_(s) {}

  model::OverheadEstimate simulate() {
    while (now_ < (s_.seconds + 1) * kSecond) {
      step();
      if (now_ - asked_ >= kSecond / 2) ask();
    }
    return duty_.estimate();
  }
  // Of the run's time.
  [[nodiscard]] double spent() const { return extra_ / plain_; }

 private:
  struct Told {
    model::Interval span;
    bool watched, mixed;
  };

  double uniform() {
    random_ = random_ * 1664525U + 1013904223U;
    return static_cast<double>(random_ >> 8U) / (1U << 24U) - 0.5;
  }

  bool in_spell() {
    if (now_ > spell_until_) {
      busy_ = uniform() + 0.5 < s_.spells;
      spell_until_ = now_ + 0.3 * kSecond;
    }
    return busy_;
  }

  void step() {
    const double plain = s_.step_ms * 1e6 * (1 + s_.drift * now_ / (s_.seconds * kSecond)) *
                         (1 + s_.noise * uniform()) * (in_spell() ? 1.8 : 1);
    double length = on_ ? plain * (1 + s_.cost) : plain;
    const bool mixed = wanted_ != on_ && switch_at_ <= now_ + length;
    if (mixed) length += s_.switch_cost_ms * 1e6;
    extra_ += length - plain;
    plain_ += plain;
    const auto begin = static_cast<model::TimeNs>(now_);
    now_ += length;
    told_.push_back({{begin, static_cast<model::TimeNs>(now_)}, on_ && !mixed, mixed});
    if (mixed) on_ = wanted_;
  }

  void ask() {
    asked_ = now_;
    while (!told_.empty() && static_cast<double>(told_.front().span.end) < now_ - 2 * kSecond) {
      duty_.add_step(told_.front().span, told_.front().watched, told_.front().mixed);
      told_.pop_front();
    }
    const bool want = duty_.want_on(static_cast<model::TimeNs>(now_));
    if (want != wanted_) switch_at_ = now_ + s_.switch_ms * 1e6;
    wanted_ = want;
  }

  DutyCycle& duty_;
  const Simulation s_;
  std::deque<Told> told_;
  std::uint32_t random_ = 7;
  double now_ = kSecond;
  double asked_ = 0;
  double switch_at_ = 0;
  double extra_ = 0, plain_ = 0;
  bool on_ = true, wanted_ = true;
  double spell_until_ = 0;
  bool busy_ = false;
};

model::OverheadEstimate simulate(DutyCycle& duty, const Simulation& s, double* spent = nullptr) {
  Run run(duty, s);
  const model::OverheadEstimate found = run.simulate();
  if (spent != nullptr) *spent = run.spent();
  return found;
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

// What launches cost most: the first seconds alone spend more than the budget of a minute.
TEST(DutyCycle, PaysBackWhatTheBeginningCost) {
  double spent = 0;
  DutyCycle duty(0.005);
  const auto found =
      simulate(duty, {.step_ms = 0.2, .cost = 0.15, .noise = 0.2, .seconds = 300}, &spent);
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.ratio, 0.15, 0.02);
  EXPECT_LT(spent, 0.0065);
  EXPECT_GT(spent, 0.002);
}

TEST(DutyCycle, CountsWhatSwitchingCosts) {
  double spent = 0;
  DutyCycle duty(0.005);
  const auto found =
      simulate(duty, {.step_ms = 20, .cost = 0, .seconds = 600, .switch_cost_ms = 10}, &spent);
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.switching, spent, 0.3 * spent);
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

TEST(DutyCycle, IsNotFooledByWhatElseTheMachineDoes) {
  DutyCycle duty(0.005);
  const auto found = simulate(duty, {.cost = 0.03, .seconds = 300, .spells = 0.1});
  ASSERT_TRUE(found.measured);
  EXPECT_NEAR(found.ratio, 0.03, 0.02);
  EXPECT_LT(found.low, 0.03);
  EXPECT_GT(found.high, 0.03);
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
