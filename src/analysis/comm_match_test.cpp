#include "analysis/comm_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/analysed_job.h"
#include "tests/support/simulated_job.h"

namespace pyrometer::analysis {
namespace {

using model::Cause;
using model::CollectiveMatch;
using model::DurationNs;
using model::Index;
using model::kNone;
using model::TimeNs;
using testing::analysed_job;
using testing::build_job;
using testing::CommDetails;
using testing::simulate_job;
using testing::SimulatedJob;
using testing::SimulatedJobOptions;
using testing::SimulatedRank;

// The number of the collective that each communication kernel of a rank is, in order.
std::vector<std::vector<int>> numbers_of(const SimulatedJob& job) {
  std::vector<std::vector<int>> result(job.seen.size());
  for (std::size_t r = 0; r < job.seen.size(); ++r) {
    for (std::size_t i = 0; i < job.seen[r].size(); ++i) {
      if (job.seen[r][i]) result[r].push_back(static_cast<int>(i));
    }
  }
  return result;
}

// Every match must join the same collective, and say who came last.
void check_matches(const SimulatedJob& sim, const model::JobAnalysis& job, DurationNs tolerance) {
  const auto numbers = numbers_of(sim);
  for (const CollectiveMatch& match : job.cross.matches) {
    int number = -1;
    TimeNs last = 0;
    for (std::size_t r = 0; r < match.activity.size(); ++r) {
      if (match.activity[r] == kNone) continue;
      const auto& calls = job.ranks[r].comm.calls;
      const auto at = std::find_if(calls.begin(), calls.end(), [&](const model::CommCall& c) {
        return c.activity == match.activity[r];
      });
      ASSERT_NE(at, calls.end());
      const int mine = numbers[r][static_cast<std::size_t>(at - calls.begin())];
      if (number < 0) number = mine;
      EXPECT_EQ(mine, number);
      last = std::max(last, sim.arrivals[r][static_cast<std::size_t>(mine)]);
    }
    ASSERT_NE(match.last_rank, kNone);
    const TimeNs of_last = sim.arrivals[match.last_rank][static_cast<std::size_t>(number)];
    EXPECT_LE(last - of_last, tolerance);
  }
}

// Collectives that at least two ranks saw.
std::size_t matchable(const SimulatedJob& sim) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < sim.seen.front().size(); ++i) {
    int seen = 0;
    for (const auto& rank : sim.seen) seen += rank[i] ? 1 : 0;
    count += seen >= 2 ? 1 : 0;
  }
  return count;
}

std::vector<SimulatedRank> random_ranks(std::mt19937_64& random, int count) {
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<SimulatedRank> ranks;
  for (int r = 0; r < count; ++r) {
    SimulatedRank rank;
    rank.rank = r;
    rank.compute_scale = 1 + 0.1 * between(0, 8);
    rank.clock = between(0, 1) == 0 ? 0 : between(-1'000'000'000, 1'000'000'000);
    rank.head = between(0, 4);
    rank.tail = between(0, 4);
    rank.holes_pct = between(0, 5);
    ranks.push_back(rank);
  }
  return ranks;
}

TEST(MatchCollectives, FindsTheSameCollectiveOnEveryRank) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto ranks = random_ranks(random, 2 + static_cast<int>(seed % 5));
    SimulatedJobOptions options;
    options.details = static_cast<CommDetails>(seed % 3);
    options.markers = seed % 4 != 0;
    const SimulatedJob sim = simulate_job(random, ranks, options);
    const model::JobAnalysis job = analysed_job(build_job(sim, ranks));
    check_matches(sim, job, 20'000);
    EXPECT_EQ(job.cross.matches.size(), matchable(sim)) << job.cross.how;
  }
}

TEST(MatchCollectives, FollowsADriftingClock) {
  std::mt19937_64 random(3);
  std::vector<SimulatedRank> ranks(2);
  ranks[1] = {.rank = 1, .compute_scale = 1.3, .clock = -40'000'000, .drift = 30e-6, .head = 3};
  SimulatedJobOptions options;
  options.steps = 800;  // some seconds
  options.details = CommDetails::kNone;
  options.markers = false;
  const SimulatedJob sim = simulate_job(random, ranks, options);
  const model::JobAnalysis job = analysed_job(build_job(sim, ranks));
  EXPECT_EQ(job.cross.matches.size(), matchable(sim)) << job.cross.how;
  EXPECT_NEAR(job.cross.clock[1].drift, -30e-6, 3e-6);
  check_matches(sim, job, 30'000);
}

// All that is said about the job but the clocks themselves, in comparable form; ranks by number.
struct Summary {
  std::vector<std::vector<Index>> matches;
  std::vector<std::int32_t> last_ranks;
  std::vector<model::CauseTimes> causes;
  std::vector<std::vector<DurationNs>> waits;
  std::vector<double> late_shares;
  double imbalance = 0;
  std::string slow_cause;
  bool operator==(const Summary&) const = default;
};

Summary summary_of(const model::Timeline& timeline, const model::JobAnalysis& job) {
  std::vector<std::size_t> order(timeline.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return timeline.ranks[a].info.rank < timeline.ranks[b].info.rank;
  });
  Summary s;
  for (const CollectiveMatch& match : job.cross.matches) {
    std::vector<Index> activities;
    for (const std::size_t r : order) activities.push_back(match.activity[r]);
    s.matches.push_back(activities);
    s.last_ranks.push_back(timeline.ranks[match.last_rank].info.rank);
  }
  for (const std::size_t r : order) {
    s.causes.push_back(job.ranks[r].waterfall.causes);
    s.late_shares.push_back(job.cross.balance[r].late_share);
    const auto& arrivals = job.ranks[r].comm.last_arrival;
    std::vector<DurationNs> waits;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const bool known = arrivals[i] != model::kUnknownArrival;
      waits.push_back(known ? arrivals[i] - timeline.ranks[r].activities.start[i] : -1);
    }
    s.waits.push_back(waits);
  }
  s.imbalance = job.cross.imbalance;
  s.slow_cause = job.cross.slow_cause;
  return s;
}

class JobProperties : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    std::mt19937_64 random(GetParam());
    ranks_ = random_ranks(random, 2 + static_cast<int>(GetParam() % 4));
    options_.details = static_cast<CommDetails>(GetParam() % 3);
    options_.markers = GetParam() % 2 == 0;
    sim_ = simulate_job(random, ranks_, options_);
  }
  std::vector<SimulatedRank> ranks_;
  SimulatedJobOptions options_;
  SimulatedJob sim_;
};

TEST_P(JobProperties, OrderOfEventsDoesNotMatter) {
  const model::Timeline before = build_job(sim_, ranks_);
  const Summary first = summary_of(before, analysed_job(before));
  std::mt19937_64 random(GetParam() + 1000);
  for (auto& rows : sim_.rows) std::shuffle(rows.begin(), rows.end(), random);
  const model::Timeline after = build_job(sim_, ranks_);
  EXPECT_EQ(summary_of(after, analysed_job(after)), first);
}

TEST_P(JobProperties, OrderOfRanksDoesNotMatter) {
  const model::Timeline before = build_job(sim_, ranks_);
  const Summary first = summary_of(before, analysed_job(before));
  std::reverse(sim_.rows.begin(), sim_.rows.end());
  std::reverse(ranks_.begin(), ranks_.end());
  const model::Timeline after = build_job(sim_, ranks_);
  const Summary second = summary_of(after, analysed_job(after));
  // The reference clock is another rank's now: only the order of matches may differ by it.
  auto a = first;
  auto b = second;
  std::sort(a.matches.begin(), a.matches.end());
  std::sort(b.matches.begin(), b.matches.end());
  a.last_ranks.clear();
  b.last_ranks.clear();
  EXPECT_EQ(a.matches, b.matches);
  EXPECT_EQ(a.causes, b.causes);
  EXPECT_EQ(a.waits, b.waits);
  EXPECT_EQ(a.slow_cause, b.slow_cause);
}

TEST_P(JobProperties, AConstantShiftOfAClockChangesOnlyTheOffset) {
  const model::Timeline before = build_job(sim_, ranks_);
  const model::JobAnalysis job_before = analysed_job(before);
  constexpr DurationNs kShift = 31'415'926'535;
  // Shift every row of rank 1 by rebuilding its timeline from shifted tables.
  model::Timeline after = build_job(sim_, ranks_);
  model::RankTimeline& t = after.ranks[1];
  for (auto* column : {&t.activities.start, &t.activities.end, &t.api_calls.start, &t.api_calls.end,
                       &t.annotations.start, &t.annotations.end}) {
    for (TimeNs& time : *column) time += kShift;
  }
  const model::JobAnalysis job_after = analysed_job(after);
  EXPECT_EQ(summary_of(after, job_after), summary_of(before, job_before));
  ASSERT_TRUE(job_before.cross.matched);
  EXPECT_EQ(job_after.cross.clock_offset[1], job_before.cross.clock_offset[1] - kShift);
}

TEST_P(JobProperties, ARanksOwnCommunicationDoesNotDependOnTheOthers) {
  const model::Timeline all = build_job(sim_, ranks_);
  const model::JobAnalysis together = analysed_job(all);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    SimulatedJob one;
    one.rows = {sim_.rows[r]};
    const model::JobAnalysis alone = analysed_job(build_job(one, {ranks_[r]}));
    EXPECT_FALSE(alone.cross.matched);
    EXPECT_TRUE(alone.ranks[0].comm.last_arrival.empty());
    const auto& a = alone.ranks[0].comm;
    const auto& b = together.ranks[r].comm;
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.exposed, b.exposed);
    EXPECT_EQ(a.overlap, b.overlap);
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
      EXPECT_EQ(a.rows[i].collective, b.rows[i].collective);
      EXPECT_EQ(a.rows[i].stats.total, b.rows[i].stats.total);
      EXPECT_EQ(a.rows[i].bytes, b.rows[i].bytes);
      EXPECT_EQ(a.rows[i].exposed, b.rows[i].exposed);
      EXPECT_EQ(a.rows[i].overlapped, b.rows[i].overlapped);
      EXPECT_EQ(a.rows[i].skew, 0);
      EXPECT_LE(b.rows[i].skew, b.rows[i].exposed);
    }
    // And its waterfall, skew and transfer apart.
    model::CauseTimes x = alone.ranks[0].waterfall.causes;
    model::CauseTimes y = together.ranks[r].waterfall.causes;
    at(x, Cause::kCommTransfer) += std::exchange(at(x, Cause::kCommSkew), 0);
    at(y, Cause::kCommTransfer) += std::exchange(at(y, Cause::kCommSkew), 0);
    EXPECT_EQ(x, y);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, JobProperties, ::testing::Range(0U, 24U));

TEST(MatchCollectives, OneRankSaysWhatItLacks) {
  std::mt19937_64 random(1);
  const std::vector<SimulatedRank> ranks(1);
  const SimulatedJob sim = simulate_job(random, ranks, {});
  const model::JobAnalysis job = analysed_job(build_job(sim, ranks));
  EXPECT_FALSE(job.cross.matched);
  EXPECT_FALSE(job.facts.has(model::FactId::kCommSkewShare));
  EXPECT_NE(job.facts.missing_reason(model::FactId::kCommSkewShare).find("two ranks"),
            std::string_view::npos);
  EXPECT_NE(job.ranks[0].facts.missing_reason(model::FactId::kBalanceSlowRank), "");
}

}  // namespace
}  // namespace pyrometer::analysis
