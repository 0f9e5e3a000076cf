#include "analysis/clock_align.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pyrometer::analysis {
namespace {

using model::ClockMap;
using model::TimeNs;

constexpr TimeNs kEpoch = 1'700'000'000'000'000'000;

// `count` ends, `every` ns apart; own clock = reference − offset − drift × time.
std::vector<SharedEnd> ends(std::mt19937_64& random, int count, TimeNs every, TimeNs offset,
                            double drift, TimeNs jitter) {
  std::uniform_int_distribution<TimeNs> noise(-jitter, jitter);
  std::vector<SharedEnd> result;
  for (int i = 0; i < count; ++i) {
    const TimeNs t = i * every;
    const auto gained = static_cast<TimeNs>(drift * static_cast<double>(t));
    result.push_back({kEpoch + t - offset - gained + noise(random), kEpoch + t});
  }
  return result;
}

TEST(FitClock, ConstantOffsetIsTheMedian) {
  std::mt19937_64 random(1);
  auto sample = ends(random, 40, 10'000'000, 123'456'789, 0, 5'000);
  sample[3].own += 400'000'000;  // one mismatch does not matter
  const ClockFit fit = fit_clock(sample);
  EXPECT_NEAR(static_cast<double>(fit.map.offset), 123'456'789, 5'000);
  EXPECT_EQ(fit.map.drift, 0);
  EXPECT_GT(fit.spread_ns, 500);
  EXPECT_LT(fit.spread_ns, 6'000);
}

TEST(FitClock, DriftOverALongTraceIsFound) {
  std::mt19937_64 random(2);
  const double drift = 20e-6;
  const auto sample = ends(random, 400, 100'000'000, -5'000, drift, 5'000);  // 40 s
  const ClockFit fit = fit_clock(sample);
  EXPECT_NEAR(fit.map.drift, drift, 1e-6);
  for (const SharedEnd& e : sample) {
    EXPECT_NEAR(static_cast<double>(fit.map.to_reference(e.own) - e.reference), 0, 20'000);
  }
  EXPECT_LT(fit.spread_ns, 6'000);
}

TEST(FitClock, JitterIsNotTakenForDrift) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    EXPECT_EQ(fit_clock(ends(random, 30, 5'000'000, 77, 0, 20'000)).map.drift, 0) << seed;
  }
}

TEST(FitClock, AConstantShiftChangesNothingElse) {
  std::mt19937_64 random(3);
  auto sample = ends(random, 50, 7'000'000, 0, 30e-6, 9'000);
  const ClockFit before = fit_clock(sample);
  for (SharedEnd& e : sample) e.own += 98'765'432'101;
  const ClockFit after = fit_clock(sample);
  EXPECT_EQ(after.map.offset, before.map.offset - 98'765'432'101);
  EXPECT_EQ(after.map.drift, before.map.drift);
  EXPECT_EQ(after.spread_ns, before.spread_ns);
}

TEST(ClockMap, GoesThereAndBack) {
  ClockMap map;
  map.origin = kEpoch;
  map.offset = -123'456;
  map.drift = 5e-5;
  for (TimeNs t = kEpoch - 60'000'000'000; t < kEpoch + 60'000'000'000; t += 999'999'937) {
    EXPECT_NEAR(static_cast<double>(map.from_reference(map.to_reference(t)) - t), 0, 2);
  }
}

TEST(AlignClocks, ChainsOverOtherRanksAndMarksTheRest) {
  std::mt19937_64 random(4);
  std::vector<ClockLink> links;
  // 0 — 2 — 1, and 3 — 4 apart from them; 5 alone.
  links.push_back({0, 2, ends(random, 9, 1'000'000, 100'000, 0, 0)});
  links.push_back({1, 2, ends(random, 9, 1'000'000, 30'000, 0, 0)});
  links.push_back({3, 4, ends(random, 9, 1'000'000, 7'000, 0, 0)});
  const Clocks clocks = align_clocks(6, links);
  ASSERT_EQ(clocks.maps.size(), 6U);
  EXPECT_EQ(clocks.maps[0].offset, 0);
  EXPECT_EQ(clocks.maps[2].offset, 100'000);
  EXPECT_EQ(clocks.maps[1].offset, 70'000);
  EXPECT_EQ(clocks.maps[4].to_reference(kEpoch) - clocks.maps[3].to_reference(kEpoch), 7'000);
  EXPECT_TRUE(clocks.maps[1].known);
  EXPECT_FALSE(clocks.maps[3].known);
  EXPECT_FALSE(clocks.maps[5].known);
}

TEST(AlignClocks, PrefersTheLinkWithMoreEnds) {
  std::mt19937_64 random(5);
  std::vector<ClockLink> links;
  links.push_back({0, 1, ends(random, 3, 1'000'000, 999, 0, 0)});  // few, and off
  links.push_back({0, 2, ends(random, 20, 1'000'000, 50, 0, 0)});
  links.push_back({1, 2, ends(random, 20, 1'000'000, 20, 0, 0)});
  EXPECT_EQ(align_clocks(3, links).maps[1].offset, 30);
}

}  // namespace
}  // namespace pyrometer::analysis
