#include "analysis/copies.h"

#include <gtest/gtest.h>

#include "analysis/exposed.h"
#include "analysis/host_created.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::CopyKind;
using model::FactId;
using model::HostMemory;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";
constexpr std::int64_t kMiB = 1 << 20;

TEST(Copies, ByDirectionAndMemory) {
  TraceScript script;
  script.step(1, 0, 1'000'000)
      .copy(CopyKind::kH2D, HostMemory::kPageable, kMiB, 0, 100'000)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 100, 200'000, 201'000)
      .copy(CopyKind::kH2D, HostMemory::kPinned, kMiB, 300'000, 320'000)
      .copy(CopyKind::kD2H, HostMemory::kPageable, 4, 400'000, 402'000)
      .memset(500'000, 501'000);
  const auto r = script.run(measure_copies);
  ASSERT_EQ(r.analysis.transfers.copies.size(), 4U);
  const auto& pageable = r.analysis.transfers.copies[0];
  EXPECT_EQ(pageable.kind, CopyKind::kH2D);
  EXPECT_EQ(pageable.host, HostMemory::kPageable);
  EXPECT_EQ(pageable.stats.count, 2);
  EXPECT_EQ(pageable.bytes, kMiB + 100);
  EXPECT_EQ(pageable.small_count, 1);
  EXPECT_DOUBLE_EQ(pageable.bandwidth_gbs, (kMiB + 100) / 101'000.0);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dShare), 0.121);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dPageableShare), 0.101);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dPageableBandwidth), kMiB / 100'000.0);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dPinnedBandwidth), kMiB / 20'000.0);
  EXPECT_EQ(r.fact(FactId::kCopiesH2dPerStep), 3);
  EXPECT_EQ(r.fact(FactId::kCopiesH2dSmallPerStep), 1);
  EXPECT_EQ(r.fact(FactId::kCopiesD2hPerStep), 1);
  EXPECT_EQ(r.fact(FactId::kCopiesMemsetsPerStep), 1);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesMemsetShare), 0.001);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dPageableOfBytes), (kMiB + 100.0) / (2 * kMiB + 100.0));
}

TEST(Copies, ExposedIsWhatNothingElseCovers) {
  TraceScript script;
  script.step(1, 0, 1000)
      .copy(CopyKind::kH2D, HostMemory::kPinned, 100, 100, 300, 0, 8)
      .kernel(kAdd, 150, 200)                                          // hides 50
      .copy(CopyKind::kD2H, HostMemory::kPinned, 100, 250, 400, 0, 9)  // both hide 50
      .kernel(kAdd, 350, 380);
  const auto r = script.run(measure_copies);
  for (const auto& row : r.analysis.transfers.copies) {
    EXPECT_EQ(row.exposed, row.kind == CopyKind::kH2D ? 100 : 70);
  }
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesH2dExposedShare), 0.1);
}

TEST(Copies, UnknownBytesStayUnknown) {
  TraceScript script;
  script.step(1, 0, 1000).copy(CopyKind::kH2D, HostMemory::kUnknown, -1, 100, 200);
  const auto r = script.run(measure_copies);
  ASSERT_EQ(r.analysis.transfers.copies.size(), 1U);
  EXPECT_EQ(r.analysis.transfers.copies[0].bytes, -1);
  EXPECT_EQ(r.analysis.transfers.copies[0].bandwidth_gbs, -1);
  EXPECT_TRUE(r.missing(FactId::kCopiesH2dPageableOfBytes));
  EXPECT_TRUE(r.missing(FactId::kCopiesH2dCallShare));
}

TEST(Copies, ABurstOfDownloadsLooksLikeACheckpoint) {
  TraceScript script;
  for (int s = 0; s < 9; ++s) {
    const model::TimeNs at = s * 1000;
    const bool saves = s == 2 || s == 6;
    script.step(s, at, at + 1000).kernel(kAdd, at + 10, at + 20);
    for (int i = 0; saves && i < 8; ++i) {
      script.copy(CopyKind::kD2H, HostMemory::kPageable, kMiB, at + 100 + i * 10,
                  at + 105 + i * 10);
    }
  }
  const auto r = script.run(measure_copies);
  EXPECT_EQ(r.fact(FactId::kCopiesD2hBurstSteps), 2);
  EXPECT_EQ(r.fact(FactId::kCopiesD2hBurstBytes), 8 * kMiB);
  EXPECT_EQ(r.fact(FactId::kCopiesD2hBurstPeriod), 4);
  EXPECT_EQ(r.fact(FactId::kCopiesD2hBurstExcessShare), 0);  // all steps are as long
}

TEST(Copies, WithoutActivityFactsAreMissing) {
  TraceScript script;
  script.step(1, 0, 1000).op("aten::add", 10, 20);
  const auto r = script.run(measure_copies);
  EXPECT_TRUE(r.analysis.transfers.copies.empty());
  EXPECT_TRUE(r.missing(FactId::kCopiesH2dShare));
}

TEST(TimeAlone, ZeroLengthActivitiesHideNothing) {
  TraceScript script;
  script.kernel(kAdd, 0, 100).kernel(kAdd, 50, 50, 0, 8).kernel(kAdd, 90, 120, 0, 8);
  const auto r = script.run();
  const auto alone = time_alone(r.timeline, r.timeline.devices[0], {0, 110});
  EXPECT_EQ(alone, (std::vector<model::DurationNs>{90, 0, 10}));
}

TEST(HostCreated, ATensorMadeOnTheHostAndCopied) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::randn", 100, 200)
      .op("aten::normal_", 110, 190, "1", "[[32, 10], [], []]")
      .op("aten::to", 200, 300, "1", "[[32, 10], [], []]")
      .call("cudaMemcpyAsync", 220, 250, 1)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 1280, 240, 245, 1);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 1);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedBytesPerStep), 1280);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kCopiesHostCreatedShare), 0.2);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedSteps), 1);
  EXPECT_EQ(r.analysis.facts.text(FactId::kCopiesHostCreatedOp), "aten::randn");
}

TEST(HostCreated, AnotherTensorsCopyIsNotMeant) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::zeros", 100, 200)
      .op("aten::zero_", 110, 190, "1", "[[1], [], []]")
      .op("aten::to", 200, 300, "1", "[[64, 3, 8, 8], [], []]")
      .call("cudaMemcpyAsync", 220, 250, 1)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 49152, 240, 245, 1);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 0);
  EXPECT_TRUE(r.missing(FactId::kCopiesHostCreatedOp));
}

TEST(HostCreated, ATensorMadeOnTheDeviceIsNone) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::randn", 100, 200)
      .call("cudaLaunchKernel", 150, 160, 1)
      .kernel(kAdd, 170, 180, 1)
      .op("aten::to", 200, 300)
      .call("cudaMemcpyAsync", 220, 250, 2)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 1280, 240, 245, 2);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 0);
}

TEST(HostCreated, ConversionsOnTheHostGoAlong) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::arange", 100, 200, "1", "[[10], [], []]")
      .op("aten::to", 200, 250, "1", "[[10], [], []]")  // changes the type on the host
      .op("aten::to", 300, 400, "1", "[[10], [], []]")
      .call("cudaMemcpyAsync", 320, 350, 1)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 80, 340, 345, 1);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 1);
}

TEST(HostCreated, ATensorFilledInPlaceIsMadeToo) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::empty", 90, 100)
      .op("aten::uniform_", 100, 200, "1", "[[32, 10], [], [], []]")
      .op("aten::to", 200, 300, "1", "[[32, 10], [], []]")
      .call("cudaMemcpyAsync", 220, 250, 1)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 1280, 240, 245, 1);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 1);
  EXPECT_EQ(r.analysis.facts.text(FactId::kCopiesHostCreatedOp), "aten::uniform_");
}

TEST(HostCreated, OtherWorkBetweenEndsTheSearch) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::ones", 100, 200)
      .op("aten::add", 210, 220)
      .op("aten::to", 300, 400)
      .call("cudaMemcpyAsync", 320, 350, 1)
      .copy(CopyKind::kH2D, HostMemory::kPageable, 80, 340, 345, 1);
  const auto r = script.run(find_host_created);
  EXPECT_EQ(r.fact(FactId::kCopiesHostCreatedPerStep), 0);
}

}  // namespace
}  // namespace pyrometer::analysis
