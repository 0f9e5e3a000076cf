#include "verify/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "verify/random.h"

namespace pyrometer::verify {
namespace {

// A machine whose steps resemble their neighbours, drift, and are now and then far too long.
class Machine {
 public:
  struct Noise {
    double spread = 0.03;      // of log step time
    double correlation = 0.8;  // of neighbours
    double outliers = 0.02;    // share of steps that take 2 to 6 times as long
    double drift = 0.0005;     // random walk, per step
  };
  Machine(Noise noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  double step(double factor) {
    state_ = noise_.correlation * state_ +
             std::sqrt(1 - noise_.correlation * noise_.correlation) * normal();
    walk_ += noise_.drift * normal();
    const double outlier = random_.unit() < noise_.outliers ? 2 + 4 * random_.unit() : 1;
    return factor * std::exp(noise_.spread * state_ + walk_) * outlier;
  }
  double block(std::size_t steps, double factor) {
    double sum = 0;
    for (std::size_t i = 0; i < steps; ++i) sum += step(factor);
    return sum;
  }

 private:
  double normal() {
    const double u = std::max(random_.unit(), 1e-12);
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random_.unit());
  }
  Noise noise_;
  Random random_;
  double state_ = 0, walk_ = 0;
};

Sequential compare(Machine& machine, std::size_t steps, double factor, SequentialLimits limits) {
  Sequential test(limits);
  while (!test.done()) {
    const double a1 = machine.block(steps, 1);
    const double b1 = machine.block(steps, factor);
    const double b2 = machine.block(steps, factor);
    const double a2 = machine.block(steps, 1);
    test.add((std::log(b1) + std::log(b2) - std::log(a1) - std::log(a2)) / 2);
  }
  return test;
}

int called_different(Machine::Noise noise, std::size_t steps, SequentialLimits limits, int times) {
  int wrong = 0;
  for (int i = 0; i < times; ++i) {
    Machine machine(noise, static_cast<std::uint64_t>(i) * 7919 + steps);
    const Decision decision = compare(machine, steps, 1, limits).decision();
    wrong += decision == Decision::kFaster || decision == Decision::kSlower ? 1 : 0;
  }
  return wrong;
}

TEST(Sequential, CallsTheSameThingDifferentInFivePercentAtMost) {
  constexpr int kPairs = 400;
  constexpr int kMost = kPairs / 20;
  const std::vector<Machine::Noise> machines = {
      {},
      {.spread = 0.03, .correlation = 0, .outliers = 0, .drift = 0},
      {.spread = 0.1, .correlation = 0.95, .outliers = 0, .drift = 0},
      {.spread = 0.02, .correlation = 0.5, .outliers = 0.1, .drift = 0.005},
      {.spread = 0.001, .correlation = 0, .outliers = 0.01, .drift = 0},
  };
  for (std::size_t i = 0; i < machines.size(); ++i) {
    EXPECT_LE(called_different(machines[i], 8, {}, kPairs), kMost) << "machine " << i;
    for (const std::size_t steps : {4, 16}) {
      EXPECT_LE(called_different(machines[i], steps, {.fewest = 4, .most = 8}, kPairs), kMost)
          << "machine " << i << ", few blocks of " << steps;
    }
  }
}

TEST(Sequential, FindsWhatIsThereSoonerTheLargerItIs) {
  std::size_t pairs_small = 0;
  std::size_t pairs_large = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Machine machine({.spread = 0.03, .correlation = 0.5, .outliers = 0.01}, seed);
    const Sequential large = compare(machine, 16, 0.7, {});
    EXPECT_EQ(large.decision(), Decision::kFaster);
    const Interval estimate = large.estimate();
    EXPECT_LT(estimate.low, std::log(0.7) + 0.06);
    pairs_large += large.pairs();
    const Sequential small = compare(machine, 16, 1.05, {});
    found += small.decision() == Decision::kSlower ? 1 : 0;
    pairs_small += small.pairs();
  }
  EXPECT_GE(found, 42);
  EXPECT_LT(pairs_large, pairs_small);
}

TEST(Sequential, SaysSameWhereTheIntervalIsWithinTheMargin) {
  Sequential test({.margin = 0.01});
  for (int i = 0; !test.done(); ++i) test.add(i % 2 == 0 ? 0.001 : -0.001);
  EXPECT_EQ(test.decision(), Decision::kSame);
  EXPECT_EQ(test.pairs(), 5u);
}

TEST(Sequential, IntervalsHoldTheTruth) {
  int missed = 0;
  constexpr int kTimes = 300;
  for (std::uint64_t seed = 0; seed < kTimes; ++seed) {
    Machine machine({.correlation = 0.6, .outliers = 0}, seed + 1000);
    const Interval found = compare(machine, 8, 0.9, {}).estimate();
    missed += found.low <= std::log(0.9) && std::log(0.9) <= found.high ? 0 : 1;
  }
  EXPECT_LE(missed, kTimes / 20);
}

}  // namespace
}  // namespace pyrometer::verify
