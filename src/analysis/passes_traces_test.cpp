// The rank passes on real traces. The expected figures of single traces come from an independent
// computation over the JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/copies.h"
#include "analysis/host_created.h"
#include "analysis/kernel_classes.h"
#include "analysis/kernels.h"
#include "analysis/launch.h"
#include "analysis/ops.h"
#include "analysis/optimizer.h"
#include "analysis/patterns.h"
#include "analysis/steps.h"
#include "analysis/syncs.h"
#include "importers/importer.h"
#include "tests/support/shared.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;

struct Rank {
  model::Timeline timeline;
  model::RankAnalysis analysis;
  [[nodiscard]] const model::RankTimeline& rank() const { return timeline.ranks.front(); }
  [[nodiscard]] double fact(FactId id) const { return analysis.facts.value(id).value_or(-1); }
  [[nodiscard]] std::string_view text(FactId id) const { return analysis.facts.text(id); }
};

std::optional<Rank> load(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto timeline = importers::import_paths({path}, {});
  if (!timeline) return std::nullopt;
  Rank r{std::move(*timeline), {}};
  for (const auto pass :
       {classify_names, find_steps, tabulate_kernels, measure_ops, measure_optimizer,
        measure_launches, measure_syncs, measure_copies, find_host_created, find_patterns}) {
    pass(r.rank(), r.analysis);
  }
  return r;
}

std::optional<Rank> load_h200(const std::string& name) {
  return load(pyrometer::testing::shared_dir() + "/traces/h200/" + name + ".trace.json.gz");
}

TEST(PassesTraces, NearlyAllKernelTimeHasAClass) {
  const std::filesystem::path folder = pyrometer::testing::shared_dir() + "/traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  int traces = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".json.gz")) continue;
    const auto r = load(entry.path().string());
    if (!r || r->analysis.kernels.all.count < 10) continue;
    ++traces;
    EXPECT_LE(r->fact(FactId::kKernelsOtherShare), 0.001) << entry.path();
  }
  EXPECT_GT(traces, 0);
}

TEST(PassesTraces, launch_bound_mlp) {
  const auto r = load_h200("launch_bound_mlp");
  if (!r) GTEST_SKIP() << "h200/launch_bound_mlp is absent";
  EXPECT_EQ(r->fact(FactId::kKernelsPerStep), 23);
  EXPECT_EQ(r->fact(FactId::kLaunchPerStep), 25);
  EXPECT_NEAR(r->fact(FactId::kLaunchQueueEmptyShare), 0.81344, 1e-5);
  EXPECT_EQ(r->fact(FactId::kLaunchLatencyP50), 9848);
  EXPECT_EQ(r->fact(FactId::kCopiesHostCreatedPerStep), 2);
  EXPECT_EQ(r->fact(FactId::kCopiesHostCreatedBytesPerStep), 128128);
  EXPECT_EQ(r->fact(FactId::kSyncsPerStep), 2);
  EXPECT_EQ(r->text(FactId::kOptimizerName), "Adam");
  EXPECT_EQ(r->text(FactId::kOptimizerStyle), "foreach");
  EXPECT_EQ(r->fact(FactId::kPatternsIdenticalShapes), 1);
}

TEST(PassesTraces, ckpt_sync) {
  const auto r = load_h200("ckpt_sync");
  if (!r) GTEST_SKIP() << "h200/ckpt_sync is absent";
  const auto& copies = r->analysis.transfers.copies;
  ASSERT_FALSE(copies.empty());
  EXPECT_EQ(copies[0].kind, model::CopyKind::kD2H);
  EXPECT_EQ(copies[0].stats.count, 192);
  EXPECT_EQ(copies[0].stats.total, 64'704'185);
  EXPECT_EQ(copies[0].bytes, 806'158'336);
  EXPECT_EQ(copies[0].small_count, 128);
  const auto& syncs = r->analysis.host.syncs;
  ASSERT_EQ(syncs.size(), 2U);
  EXPECT_EQ(syncs[0].blocked, 965'254);
  EXPECT_EQ(syncs[0].drained_after, 874'769'529);
  EXPECT_LT(syncs[0].drained_typical, syncs[0].drained_after / 10);
  EXPECT_EQ(syncs[1].waiting_busy, 64'704'185);
  EXPECT_EQ(r->fact(FactId::kCopiesD2hBurstSteps), 2);
  EXPECT_EQ(r->fact(FactId::kCopiesD2hBurstPeriod), 5);
  EXPECT_EQ(r->fact(FactId::kPatternsOutlierCount), 2);
  EXPECT_EQ(r->fact(FactId::kPatternsOutlierPeriod), 5);
}

TEST(PassesTraces, h2d_pageable) {
  const auto r = load_h200("h2d_pageable");
  if (!r) GTEST_SKIP() << "h200/h2d_pageable is absent";
  EXPECT_EQ(r->fact(FactId::kCopiesH2dPageablePerStep), 2);
  EXPECT_EQ(r->fact(FactId::kCopiesH2dPageableOfBytes), 1);
  EXPECT_NEAR(r->fact(FactId::kCopiesH2dPageableBandwidth), 8.78, 0.01);
  EXPECT_NEAR(r->fact(FactId::kCopiesH2dShare), 0.4648, 1e-4);
  EXPECT_NEAR(r->fact(FactId::kSyncsBlockedShare), 0.7637, 1e-4);
  EXPECT_EQ(r->fact(FactId::kCopiesHostCreatedPerStep), 0);
}

TEST(PassesTraces, fp32_no_tf32) {
  const auto r = load_h200("fp32_no_tf32");
  if (!r) GTEST_SKIP() << "h200/fp32_no_tf32 is absent";
  EXPECT_EQ(r->fact(FactId::kKernelsFp32MathShare), 1);
  EXPECT_GT(r->fact(FactId::kKernelsSimtShare), 0.7);
  EXPECT_EQ(r->fact(FactId::kKernelsDeviceTf32), 1);
}

TEST(PassesTraces, TheControlsAreClean) {
  for (const char* name : {"healthy", "ddp_healthy.rank0", "ddp_healthy.rank1"}) {
    const auto r = load_h200(name);
    if (!r) GTEST_SKIP() << "h200/" << name << " is absent";
    EXPECT_EQ(r->fact(FactId::kKernelsMatrixShare), 1) << name;
    EXPECT_EQ(r->fact(FactId::kKernelsHalfMathShare), 1) << name;
    EXPECT_EQ(r->fact(FactId::kSyncsCount), 0) << name;
    EXPECT_EQ(r->fact(FactId::kCopiesH2dPerStep), 0) << name;
    EXPECT_LT(r->fact(FactId::kLaunchQueueEmptyShare), 0.02) << name;
    EXPECT_EQ(r->text(FactId::kOptimizerStyle), "fused") << name;
    EXPECT_EQ(r->fact(FactId::kPatternsIdenticalShapes), 1) << name;
  }
}

}  // namespace
}  // namespace pyrometer::analysis
