#include "analysis/interval_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <string>
#include <vector>

namespace pyrometer::analysis {
namespace {

using model::Interval;

constexpr int kUniverse = 64;
using Points = std::bitset<kUniverse>;

std::vector<Interval> random_intervals(std::mt19937& random) {
  std::uniform_int_distribution<int> count(0, 12);
  std::uniform_int_distribution<int> time(0, kUniverse);
  std::vector<Interval> intervals(static_cast<std::size_t>(count(random)));
  for (Interval& span : intervals) span = {time(random), time(random)};  // often empty or negative
  return intervals;
}

Points points_of(const std::vector<Interval>& intervals) {
  Points points;
  for (const Interval& span : intervals) {
    for (auto t = span.start; t < span.end; ++t) points.set(static_cast<std::size_t>(t));
  }
  return points;
}

// The one canonical form: ascending, not empty, never touching.
void expect_canonical(const IntervalSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_LT(set.intervals()[i].start, set.intervals()[i].end);
    if (i > 0) {
      EXPECT_GT(set.intervals()[i].start, set.intervals()[i - 1].end);
    }
  }
}

void expect_equal(const IntervalSet& set, const Points& points) {
  expect_canonical(set);
  EXPECT_EQ(points_of(set.intervals()), points);
  EXPECT_EQ(set.length(), static_cast<model::DurationNs>(points.count()));
}

TEST(IntervalSet, MergesTouchingAndDropsEmpty) {
  const IntervalSet set({{5, 7}, {1, 3}, {3, 5}, {9, 9}, {12, 11}});
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set.intervals()[0], (Interval{1, 7}));
  EXPECT_EQ(set.hull(), (Interval{1, 7}));
  EXPECT_TRUE(set.contains(1));
  EXPECT_FALSE(set.contains(7));
  EXPECT_EQ(IntervalSet().hull(), (Interval{0, 0}));
}

TEST(IntervalSet, AddKeepsALongIntervalThatContainsLaterOnes) {
  IntervalSet set;
  set.add(0, 100);
  set.add(10, 20);
  set.add(90, 110);
  set.add(200, 200);
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set.intervals()[0], (Interval{0, 110}));
}

TEST(IntervalSet, AgreesWithSetsOfPoints) {
  std::mt19937 random(20240731);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto intervals_a = random_intervals(random);
    const auto intervals_b = random_intervals(random);
    const IntervalSet a(intervals_a);
    const IntervalSet b(intervals_b);
    const Points pa = points_of(intervals_a);
    const Points pb = points_of(intervals_b);
    expect_equal(a, pa);
    expect_equal(unite(a, b), pa | pb);
    expect_equal(intersect(a, b), pa & pb);
    expect_equal(subtract(a, b), pa & ~pb);
    EXPECT_EQ(overlap_length(a, b), static_cast<model::DurationNs>((pa & pb).count()));

    const Interval window = {std::min(round % 61, 7 + round % 13), 7 + round % 13 + round % 29};
    const Points pw = points_of({window});
    expect_equal(clip(a, window), pa & pw);
    expect_equal(complement(a, window), pw & ~pa);
    EXPECT_EQ(a.length_within(window), static_cast<model::DurationNs>((pa & pw).count()));
    const Coverage coverage(a);
    EXPECT_EQ(coverage.within(window.start, window.end), a.length_within(window));
    for (int t = -1; t <= kUniverse; ++t) {
      const bool inside = t >= 0 && t < kUniverse && pa.test(static_cast<std::size_t>(t));
      EXPECT_EQ(a.contains(t), inside);
      EXPECT_EQ(coverage.before(t), a.length_within({-1, t}));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(IntervalSet, AddInOrderOfStartGivesTheSameSet) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    auto intervals = random_intervals(random);
    const IntervalSet whole(intervals);
    std::shuffle(intervals.begin(), intervals.end(), random);
    EXPECT_EQ(IntervalSet(intervals), whole);
    std::stable_sort(intervals.begin(), intervals.end(),
                     [](const Interval& x, const Interval& y) { return x.start < y.start; });
    IntervalSet added;
    for (const Interval& span : intervals) added.add(span);
    EXPECT_EQ(added, whole);
  }
}

}  // namespace
}  // namespace pyrometer::analysis
