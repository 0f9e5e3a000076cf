// Communication on real traces of several ranks.

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "importers/importer.h"
#include "tests/support/analysed_job.h"
#include "tests/support/shared.h"

namespace pyrometer::analysis {
namespace {

using model::at;
using model::Cause;
using model::FactId;
using model::kNone;

struct Job {
  model::Timeline timeline;
  model::JobAnalysis analysis;
};

// Nothing when one of the files is absent.
std::optional<Job> load(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(testing::shared_dir() + "/traces/" + file + ".trace.json.gz");
    if (!std::filesystem::exists(paths.back())) return std::nullopt;
  }
  auto timeline = importers::import_paths(paths, {});
  if (!timeline) {
    ADD_FAILURE() << timeline.error().to_string();
    return std::nullopt;
  }
  Job job{std::move(*timeline), {}};
  job.analysis = testing::analysed_job(job.timeline);
  return job;
}

double share_of(const model::RankAnalysis& rank, Cause cause) {
  return static_cast<double>(at(rank.waterfall.causes, cause)) /
         static_cast<double>(model::total(rank.waterfall.causes));
}

TEST(CommTraces, ddp_imbalance) {
  const auto job = load({"h200/ddp_imbalance.rank0", "h200/ddp_imbalance.rank1"});
  if (!job) GTEST_SKIP() << "h200/ddp_imbalance is absent";
  const model::CrossRank& cross = job->analysis.cross;
  // Rank 0's trace begins with a collective that rank 1's does not have.
  EXPECT_EQ(job->analysis.ranks[0].comm.calls.size(), 40U);
  EXPECT_EQ(job->analysis.ranks[1].comm.calls.size(), 39U);
  EXPECT_EQ(cross.matches.size(), 39U);
  for (const model::CollectiveMatch& match : cross.matches) EXPECT_TRUE(match.complete);
  EXPECT_LT(cross.clock_spread_ns, 10'000);

  const double waiting = share_of(job->analysis.ranks[0], Cause::kCommSkew);
  const double moving = share_of(job->analysis.ranks[0], Cause::kCommTransfer);
  EXPECT_NEAR(waiting + moving, 0.56, 0.02);
  EXPECT_GT(waiting, 0.5);
  EXPECT_LT(share_of(job->analysis.ranks[1], Cause::kCommSkew), 0.01);
  ASSERT_EQ(cross.slow_rank, 1U);
  EXPECT_EQ(cross.slow_cause, "compute");
  EXPECT_GT(cross.balance[1].late_share, 0.95);
  EXPECT_GT(cross.imbalance, 0.5);
  EXPECT_DOUBLE_EQ(*job->analysis.facts.value(FactId::kCommRepeatedReductions), 1.0);
}

TEST(CommTraces, ddp_healthy) {
  const auto job = load({"h200/ddp_healthy.rank0", "h200/ddp_healthy.rank1"});
  if (!job) GTEST_SKIP() << "h200/ddp_healthy is absent";
  const model::CrossRank& cross = job->analysis.cross;
  EXPECT_EQ(cross.matches.size(), 100U);
  EXPECT_LT(*job->analysis.facts.value(FactId::kCommSkewShare), 0.01);
  EXPECT_GT(*job->analysis.facts.value(FactId::kCommOverlap), 0.9);
  EXPECT_EQ(cross.slow_rank, kNone);
  EXPECT_LT(cross.imbalance, 0.05);
  // 25 buckets per step; a step's worth of kernels from before the trace does not count.
  EXPECT_DOUBLE_EQ(*job->analysis.facts.value(FactId::kCommPerStep), 25);
}

std::vector<std::string> dlrm_files() {
  std::vector<std::string> files;
  const char* written[] = {"545", "556", "554", "557", "547", "549", "553", "553"};
  for (int worker = 0; worker < 8; ++worker) {
    files.push_back("public/param__dlrm_kineto__worker" + std::to_string(worker) +
                    "_step_12.1694128201" + written[worker] + ".pt.trace");
  }
  return files;
}

TEST(CommTraces, param__dlrm_kineto) {
  const auto job = load(dlrm_files());
  if (!job) GTEST_SKIP() << "public/param__dlrm_kineto is absent";
  const model::CrossRank& cross = job->analysis.cross;
  ASSERT_EQ(cross.matches.size(), 8U);  // five all-to-alls, three all-reduces
  for (const model::CollectiveMatch& match : cross.matches) {
    EXPECT_TRUE(match.complete);
    EXPECT_EQ(std::count(match.activity.begin(), match.activity.end(), kNone), 0);
  }
  EXPECT_LT(cross.clock_spread_ns, 10'000);
  EXPECT_EQ(cross.slow_rank, 7U);
}

// Three of the eight: the same collectives, with less waiting, and said to be incomplete.
TEST(CommTraces, param__dlrm_kineto_subset) {
  const std::vector<std::string> all = dlrm_files();
  const auto whole = load(all);
  const auto part = load({all[4], all[1], all[6]});
  if (!whole || !part) GTEST_SKIP() << "public/param__dlrm_kineto is absent";
  ASSERT_EQ(part->analysis.cross.matches.size(), 8U);
  EXPECT_FALSE(part->analysis.cross.matches[0].complete);
  EXPECT_NE(part->analysis.cross.how.find("ranks are missing"), std::string::npos);
  for (std::size_t r = 0; r < part->timeline.ranks.size(); ++r) {
    const auto rank = static_cast<std::size_t>(part->timeline.ranks[r].info.rank);
    EXPECT_LE(at(part->analysis.ranks[r].waterfall.causes, Cause::kCommSkew),
              at(whole->analysis.ranks[rank].waterfall.causes, Cause::kCommSkew) + 10'000);
  }
}

// Two of 128 ranks, thinned to a sample of their kernels: only what ends together is the same.
TEST(CommTraces, hta__trace_filter__sampled) {
  const auto job = load(
      {"public/hta__trace_filter__sampled_rank-0", "public/hta__trace_filter__sampled_rank-1"});
  if (!job) GTEST_SKIP() << "public/hta__trace_filter__sampled is absent";
  const model::CrossRank& cross = job->analysis.cross;
  EXPECT_EQ(cross.matches.size(), 5U);
  const auto& ranks = job->timeline.ranks;
  for (const model::CollectiveMatch& match : cross.matches) {
    EXPECT_FALSE(match.complete);
    EXPECT_NEAR(static_cast<double>(ranks[0].activities.end[match.activity[0]] -
                                    ranks[1].activities.end[match.activity[1]]),
                0, 500'000);
  }
}

}  // namespace
}  // namespace pyrometer::analysis
