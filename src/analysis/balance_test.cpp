#include "analysis/balance.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/analysed_job.h"
#include "tests/support/simulated_job.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using model::kNone;
using testing::analysed_job;
using testing::build_job;
using testing::simulate_job;
using testing::SimulatedJob;
using testing::SimulatedJobOptions;
using testing::SimulatedRank;

model::JobAnalysis analyse(const std::vector<SimulatedRank>& ranks,
                           const SimulatedJobOptions& options) {
  std::mt19937_64 random(17);
  return analysed_job(build_job(simulate_job(random, ranks, options), ranks));
}

std::vector<SimulatedRank> equal_ranks(int count) {
  std::vector<SimulatedRank> ranks(static_cast<std::size_t>(count));
  for (int r = 0; r < count; ++r) ranks[static_cast<std::size_t>(r)].rank = r;
  return ranks;
}

TEST(Balance, ARankWithLongerKernelsIsNamedWithItsCause) {
  for (const int count : {2, 4, 8}) {
    auto ranks = equal_ranks(count);
    ranks[1].compute_scale = 1.8;
    const model::JobAnalysis job = analyse(ranks, {});
    ASSERT_EQ(job.cross.slow_rank, 1U) << count;
    EXPECT_EQ(job.cross.slow_cause, "compute");
    EXPECT_EQ(job.facts.value(FactId::kBalanceSlowRank), 1.0);
    EXPECT_EQ(job.facts.text(FactId::kBalanceSlowCause), "compute");
    EXPECT_GT(job.facts.value_or(FactId::kBalanceLateShare, 0), 0.9);
    EXPECT_GT(job.cross.imbalance, 0.2);
    EXPECT_GT(job.facts.value_or(FactId::kCommSkewShare, 0), 0.1);
    EXPECT_LT(job.ranks[1].facts.value_or(FactId::kCommSkewShare, 1), 0.01);
  }
}

TEST(Balance, ARankWithSlowHostCodeIsNamedWithItsCause) {
  auto ranks = equal_ranks(3);
  ranks[2].host_delay = 6'000'000;
  const model::JobAnalysis job = analyse(ranks, {});
  ASSERT_EQ(job.cross.slow_rank, 2U);
  EXPECT_EQ(job.cross.slow_cause, "host");
  // The others' waiting is charged to it.
  EXPECT_GT(job.cross.balance[2].caused_wait_ns, 2 * 4e6);
  EXPECT_LT(job.cross.balance[0].caused_wait_ns, 1e6);
}

TEST(Balance, EqualRanksHaveNoSlowOne) {
  SimulatedJobOptions options;
  options.end_jitter = 2'000;
  const model::JobAnalysis job = analyse(equal_ranks(4), options);
  EXPECT_TRUE(job.cross.matched);
  EXPECT_EQ(job.cross.slow_rank, kNone);
  EXPECT_LT(job.cross.imbalance, 0.05);
  EXPECT_FALSE(job.facts.has(FactId::kBalanceSlowRank));
  EXPECT_FALSE(job.facts.missing_reason(FactId::kBalanceSlowRank).empty());
}

TEST(RepeatedReductions, CountsBackwardPassesThatReduce) {
  SimulatedJobOptions options;
  const auto ranks = equal_ranks(2);
  EXPECT_DOUBLE_EQ(*analyse(ranks, options).facts.value(FactId::kCommRepeatedReductions), 1.0);
  options.backward_passes = 4;
  EXPECT_DOUBLE_EQ(*analyse(ranks, options).facts.value(FactId::kCommRepeatedReductions), 4.0);
  options.no_sync = true;
  EXPECT_DOUBLE_EQ(*analyse(ranks, options).facts.value(FactId::kCommRepeatedReductions), 1.0);
}

}  // namespace
}  // namespace pyrometer::analysis
