#include "analysis/syncs.h"

#include <gtest/gtest.h>

#include "analysis/enclosing.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::CopyKind;
using model::FactId;
using model::HostMemory;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";

TEST(Syncs, WaitingAndDrainedTime) {
  TraceScript script;
  script.step(1, 0, 1000)
      .call("cudaLaunchKernel", 10, 20, 1)
      .kernel(kAdd, 50, 200, 1)
      .call("cudaStreamSynchronize", 100, 230)  // device busy until 200, idle for 30
      .call("cudaLaunchKernel", 300, 310, 2)
      .kernel(kAdd, 330, 400, 2);
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 1U);
  const auto& row = r.analysis.host.syncs[0];
  EXPECT_EQ(row.count, 1);
  EXPECT_EQ(row.per_step, 1);
  EXPECT_EQ(row.blocked, 130);
  EXPECT_EQ(row.waiting_busy, 100);
  EXPECT_EQ(row.waiting_idle, 30);
  EXPECT_EQ(row.drained_after, 100);  // 230 to 330
  EXPECT_DOUBLE_EQ(r.fact(FactId::kSyncsBlockedShare), 0.13);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kSyncsDrainedShare), 0.13);
  EXPECT_EQ(r.fact(FactId::kSyncsExplicitPerStep), 1);
}

TEST(Syncs, DrainedTimeIsNotCountedTwice) {
  TraceScript script;
  script.step(1, 0, 1000)
      .call("cudaLaunchKernel", 10, 20, 1)
      .kernel(kAdd, 30, 100, 1)
      .call("cudaStreamSynchronize", 50, 100)
      .call("cudaDeviceSynchronize", 150, 160)  // ends the first one's share
      .call("cudaLaunchKernel", 300, 310, 2)
      .kernel(kAdd, 320, 400, 2);
  const auto r = script.run(measure_syncs);
  model::DurationNs drained = 0;
  model::DurationNs idle = 0;
  for (const auto& row : r.analysis.host.syncs) {
    drained += row.drained_after;
    idle += row.waiting_idle;
  }
  EXPECT_EQ(idle, 10);
  EXPECT_EQ(drained, 50 + 160);
}

TEST(Syncs, TypicalDrainedTimeLeavesOutRarePauses) {
  TraceScript script;
  model::TimeNs at = 0;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    script.call("cudaLaunchKernel", at, at + 1, i).kernel(kAdd, at + 10, at + 20, i);
    script.call("cudaStreamSynchronize", at + 11, at + 20);
    at += i == 3 ? 10'000 : 100;  // a long pause after the third
  }
  script.step(1, 0, at);
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 1U);
  EXPECT_EQ(r.analysis.host.syncs[0].drained_after, 3 * 90 + 9990 + 80);
  EXPECT_EQ(r.analysis.host.syncs[0].drained_typical, 5 * 90);
}

TEST(Syncs, ABusyDeviceIsNotDrained) {
  TraceScript script;
  script.step(1, 0, 1000)
      .call("cudaLaunchKernel", 10, 20, 1)
      .kernel(kAdd, 30, 500, 1)
      .call("cudaEventSynchronize", 50, 100)
      .call("cudaLaunchKernel", 600, 610, 2)
      .kernel(kAdd, 620, 700, 2);
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 1U);
  EXPECT_EQ(r.analysis.host.syncs[0].drained_after, 0);
  EXPECT_EQ(r.analysis.host.syncs[0].waiting_busy, 50);
}

TEST(Syncs, OneItemIsOnePlaceWithTwoCalls) {
  TraceScript script;
  script.step(1, 0, 1000)
      .note("metrics", 50, 400)
      .op("aten::item", 100, 300)
      .op("aten::_local_scalar_dense", 110, 290)
      .call("cudaMemcpyAsync", 120, 200, 1)
      .copy(CopyKind::kD2H, HostMemory::kPageable, 4, 180, 190, 1)
      .call("cudaStreamSynchronize", 210, 220);
  script.builder().add_python(0, 900, script.name("train.py(12): main"), script.thread("1"));
  script.builder().add_python(60, 800, script.name("torch/_tensor.py(9): item"),
                              script.thread("1"));
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 2U);
  for (const auto& row : r.analysis.host.syncs) {
    EXPECT_EQ(r.name(row.op), "aten::item");
    EXPECT_EQ(r.name(row.leaf_op), "aten::_local_scalar_dense");
    EXPECT_EQ(r.name(row.annotation), "metrics");
    EXPECT_EQ(r.name(row.python), "train.py(12): main");
  }
  EXPECT_EQ(r.fact(FactId::kSyncsCount), 1);
  EXPECT_EQ(r.fact(FactId::kSyncsItemPerStep), 1);
  EXPECT_EQ(r.analysis.facts.text(FactId::kSyncsTop), "aten::item");
}

TEST(Syncs, AsynchronousCopiesBlockOnlyWhenTheCallWaited) {
  TraceScript script;
  script.step(1, 0, 1'000'000)
      .call("cudaMemcpyAsync", 100, 200, 1)  // pageable, returned before the copy began
      .copy(CopyKind::kH2D, HostMemory::kPageable, 100, 500, 600, 1)
      .call("cudaMemcpyAsync", 1000, 90'000, 2)  // pageable, waited for its end
      .copy(CopyKind::kH2D, HostMemory::kPageable, 100, 2000, 80'000, 2)
      .call("cudaMemcpyAsync", 100'000, 190'000, 3)  // pinned memory never blocks
      .copy(CopyKind::kH2D, HostMemory::kPinned, 100, 110'000, 180'000, 3);
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 1U);
  EXPECT_EQ(r.analysis.host.syncs[0].count, 1);
  EXPECT_EQ(r.analysis.host.syncs[0].blocked, 89'000);
  EXPECT_EQ(r.fact(FactId::kSyncsCopyPerStep), 1);
}

TEST(Syncs, TheProfilersOwnSynchronisationDoesNotCount) {
  TraceScript script;
  script.step(1, 0, 100)
      .call("cudaLaunchKernel", 10, 20, 1)
      .kernel(kAdd, 50, 200, 1)
      .call("cudaDeviceSynchronize", 110, 210);  // after the marker; the window ends at 200
  const auto r = script.run(measure_syncs);
  EXPECT_TRUE(r.analysis.host.syncs.empty());
  EXPECT_EQ(r.fact(FactId::kSyncsCount), 0);
  EXPECT_TRUE(r.missing(FactId::kSyncsTop));
}

TEST(Syncs, TheUsersSynchronisationInTheLastStepCounts) {
  TraceScript script;
  script.step(1, 0, 100)
      .call("cudaLaunchKernel", 10, 20, 1)
      .kernel(kAdd, 50, 80, 1)
      .call("cudaDeviceSynchronize", 60, 90);
  const auto r = script.run(measure_syncs);
  ASSERT_EQ(r.analysis.host.syncs.size(), 1U);
  EXPECT_EQ(r.analysis.host.syncs[0].drained_after, 10);  // to the end of the window
}

TEST(Syncs, WithoutCallsFactsAreMissing) {
  TraceScript script;
  script.step(1, 0, 100).kernel(kAdd, 50, 80);
  const auto r = script.run(measure_syncs);
  EXPECT_TRUE(r.missing(FactId::kSyncsPerStep));
}

TEST(Enclosing, InnermostAcceptedRow) {
  model::TimelineBuilder b;
  const auto thread = b.thread(1, "1");
  auto& names = b.timeline().names;
  b.add_annotation(0, 100, names.intern("outer"), thread);
  b.add_annotation(10, 20, names.intern("inner"), thread);
  b.add_annotation(12, 15, names.intern("skipped"), thread);
  b.add_annotation(40, 40, names.intern("empty"), thread);
  const auto t = b.finish();
  const auto found = innermost_rows(
      t.annotations, t.threads[0].annotations, {5, 12, 20, 40, 100},
      [&](model::Index row) { return t.name(t.annotations.name[row]) != "skipped"; });
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(t.name(t.annotations.name[found[0]]), "outer");
  EXPECT_EQ(t.name(t.annotations.name[found[1]]), "inner");
  EXPECT_EQ(t.name(t.annotations.name[found[2]]), "outer");
  EXPECT_EQ(t.name(t.annotations.name[found[3]]), "outer");
  EXPECT_EQ(found[4], model::kNone);
}

}  // namespace
}  // namespace pyrometer::analysis
