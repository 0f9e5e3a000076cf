#include "analysis/comm_sequence.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace pyrometer::analysis {
namespace {

using model::Collective;
using model::DurationNs;
using model::TimeNs;

struct Known {
  bool sizes = true;
  bool numbers = false;
  bool steps = true;
};

// Two ranks' views of `count` collectives in steps of `per_step`. Each event's `sequence` is its
// true number while the test runs; hide() takes away what the trace does not tell.
struct Views {
  CommSequence a, b;
  std::vector<std::int64_t> truth_a, truth_b;
};

Views two_views(std::mt19937_64& random, int count, int per_step, DurationNs clock) {
  const auto between = [&](TimeNs low, TimeNs high) {
    return std::uniform_int_distribution<TimeNs>(low, high)(random);
  };
  Views v;
  TimeNs now = 1'000'000'000;
  for (int i = 0; i < count; ++i) {
    const TimeNs start_a = now + between(0, 2'000'000);
    const TimeNs start_b = now + between(0, 2'000'000);
    const TimeNs end = std::max(start_a, start_b) + between(100'000, 400'000);
    CommEvent e;
    e.collective = i % per_step == 0 ? Collective::kAllGather : Collective::kAllReduce;
    e.bytes = 4'000'000 + 4096 * (i % per_step % 3);
    e.sequence = i;
    e.step = i / per_step;
    e.start = start_a;
    e.end = end + between(0, 8'000);
    v.a.push_back(e);
    e.start = start_b - clock;
    e.end = end + between(0, 8'000) - clock;
    v.b.push_back(e);
    now = end + between(50'000, 300'000);
  }
  return v;
}

// Removes some events, and from the rest what the trace would not tell.
void hide(std::mt19937_64& random, CommSequence& s, std::vector<std::int64_t>& truth, Known known,
          int head, int tail, int holes_pct) {
  CommSequence kept;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool hole = std::uniform_int_distribution<int>(0, 99)(random) < holes_pct;
    if (i < static_cast<std::size_t>(head) || i + static_cast<std::size_t>(tail) >= s.size() ||
        hole)
      continue;
    truth.push_back(s[i].sequence);
    kept.push_back(s[i]);
    if (!known.numbers) kept.back().sequence = -1;
    if (!known.sizes) kept.back().bytes = -1;
    if (!known.steps) kept.back().step = -1;
  }
  s = std::move(kept);
}

// Every pair must be right; returns how many there are.
std::size_t check(const Views& v, const std::vector<DurationNs>& guesses, DurationNs clock) {
  const SequenceMatch match = match_sequences(v.a, v.b, guesses);
  for (const auto& [i, j] : match.pairs) EXPECT_EQ(v.truth_a[i], v.truth_b[j]);
  if (!match.pairs.empty()) {
    const TimeNs t = v.b.front().end;
    EXPECT_NEAR(static_cast<double>(match.clock.to_reference(t) - t), static_cast<double>(clock),
                10'000);
  }
  return match.pairs.size();
}

std::size_t common(const Views& v) {
  std::size_t count = 0;
  for (const auto x : v.truth_a) {
    for (const auto y : v.truth_b) count += x == y ? 1 : 0;
  }
  return count;
}

TEST(MatchSequences, FindsTheShiftOfATraceThatBeginsLater) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const DurationNs clock = seed % 3 == 0 ? 0 : 3'123'456'789;
    Views v = two_views(random, 40, 8, clock);
    const Known known{seed % 2 == 0, false, seed % 5 != 0};
    hide(random, v.a, v.truth_a, known, static_cast<int>(seed % 4), static_cast<int>(seed % 7), 0);
    hide(random, v.b, v.truth_b, known, static_cast<int>(seed % 6), static_cast<int>(seed % 3), 0);
    EXPECT_EQ(check(v, {0}, clock), common(v));
  }
}

TEST(MatchSequences, PassesOverHoles) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(1000 + seed);
    const DurationNs clock = seed % 2 == 0 ? 0 : -777'777'777;
    Views v = two_views(random, 60, 6, clock);
    const Known known{true, false, true};
    hide(random, v.a, v.truth_a, known, 2, 0, 8);
    hide(random, v.b, v.truth_b, known, 0, 3, 8);
    EXPECT_EQ(check(v, {0}, clock), common(v));
  }
}

TEST(MatchSequences, UsesSequenceNumbers) {
  std::mt19937_64 random(5);
  Views v = two_views(random, 30, 5, 123'456'789'012);
  hide(random, v.a, v.truth_a, {false, true, false}, 3, 0, 20);
  hide(random, v.b, v.truth_b, {false, true, false}, 0, 4, 20);
  EXPECT_EQ(check(v, {0}, 123'456'789'012), common(v));
  EXPECT_TRUE(match_sequences(v.a, v.b, {0}).by_sequence_number);
}

TEST(MatchSequences, StepNumbersKeepAPeriodicRunInStep) {
  // Every step is exactly alike, so that times fit just as well one step late.
  Views v;
  for (int i = 0; i < 30; ++i) {
    CommEvent e;
    e.collective = Collective::kAllReduce;
    e.step = i / 3;
    e.start = 1'000'000'000 + i * 10'000'000;
    e.end = e.start + 500'000;
    e.sequence = -1;
    if (i < 27) v.a.push_back(e);
    if (i < 27) v.truth_a.push_back(i);
    e.start -= 4'000'000'000;
    e.end -= 4'000'000'000;
    if (i >= 3) v.b.push_back(e);
    if (i >= 3) v.truth_b.push_back(i);
  }
  EXPECT_EQ(check(v, {0}, 4'000'000'000), 24U);
}

TEST(MatchSequences, SmallCollectivesBackToBack) {
  // Closer together than the tolerance, with one missing at the front of one side.
  Views v;
  for (int i = 0; i < 40; ++i) {
    CommEvent e;
    e.collective = Collective::kAllReduce;
    e.start = 1'000'000'000 + i * 25'000 + (i / 10) * 3'000'000;
    e.end = e.start + 20'000;
    v.a.push_back(e);
    v.truth_a.push_back(i);
    if (i == 0) continue;
    e.end += 1'000 * (i % 3);
    v.b.push_back(e);
    v.truth_b.push_back(i);
  }
  EXPECT_EQ(check(v, {0}, 0), 39U);
}

TEST(MatchSequences, AConstantShiftOfAClockChangesNothing) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    Views v = two_views(random, 25, 5, 0);
    hide(random, v.a, v.truth_a, {}, 1, 0, 5);
    hide(random, v.b, v.truth_b, {}, 0, 2, 5);
    const SequenceMatch before = match_sequences(v.a, v.b, {0});
    for (CommEvent& e : v.b) {
      e.start += 55'555'555'555;
      e.end += 55'555'555'555;
    }
    const SequenceMatch after = match_sequences(v.a, v.b, {0});
    EXPECT_EQ(before.pairs, after.pairs) << seed;
    EXPECT_EQ(before.clock.offset - 55'555'555'555, after.clock.offset) << seed;
  }
}

TEST(MatchSequences, UnrelatedSequencesDoNotMatch) {
  std::mt19937_64 random(9);
  Views v = two_views(random, 60, 6, 0);
  Views w = two_views(random, 60, 6, 0);
  for (CommEvent& e : w.b) e.step = e.bytes = e.sequence = -1;
  for (CommEvent& e : v.a) e.step = e.bytes = e.sequence = -1;
  // Other spacing altogether.
  for (std::size_t i = 0; i < w.b.size(); ++i) {
    w.b[i].start = 9'000'000'000 + static_cast<TimeNs>(i * i) * 777'777;
    w.b[i].end = w.b[i].start + 50'000;
  }
  EXPECT_LT(match_sequences(v.a, w.b, {}).pairs.size(), 20U);
  EXPECT_TRUE(match_sequences(v.a, {}, {0}).pairs.empty());
}

TEST(Compatible, KindsSizesAndSteps) {
  CommEvent a;
  CommEvent b;
  EXPECT_TRUE(compatible(a, b));
  a.collective = Collective::kAllReduce;
  EXPECT_TRUE(compatible(a, b));  // b is a generic kernel
  b.collective = Collective::kBroadcast;
  EXPECT_FALSE(compatible(a, b));
  b.collective = Collective::kAllReduce;
  a.bytes = 4;
  b.bytes = 8;
  EXPECT_FALSE(compatible(a, b));
  a.collective = b.collective = Collective::kAllToAll;  // ranks may send unequal amounts
  EXPECT_TRUE(compatible(a, b));
  a.step = 3;
  b.step = 4;
  EXPECT_FALSE(compatible(a, b));
  b.step = 3;
  a.collective = Collective::kSend;
  b.collective = Collective::kRecv;
  EXPECT_TRUE(compatible(a, b));
}

}  // namespace
}  // namespace pyrometer::analysis
