#include <gtest/gtest.h>

#include "analysis/allocator.h"
#include "analysis/memory_curve.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";

TEST(Allocator, TheFirstOfThreeStepsDoesNotCount) {
  TraceScript script;
  script.step(1, 0, 100).step(2, 100, 200).step(3, 200, 300).kernel(kAdd, 10, 20);
  for (int i = 0; i < 5; ++i) script.call("cudaMalloc", 10 + i * 5, 14 + i * 5);
  script.call("cudaMalloc", 110, 120).call("cudaFree", 150, 160);
  const auto r = script.run(measure_allocator);
  EXPECT_EQ(r.analysis.transfers.allocator.malloc_calls, 6);
  EXPECT_EQ(r.analysis.transfers.allocator.free_calls, 1);
  EXPECT_EQ(r.fact(FactId::kAllocatorMallocsPerStep), 0.5);
  EXPECT_EQ(r.fact(FactId::kAllocatorFreesPerStep), 0.5);
  EXPECT_EQ(r.fact(FactId::kAllocatorEveryStep), 0);
  EXPECT_EQ(r.fact(FactId::kAllocatorStepsShare), 0.5);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kAllocatorShare), 0.1);
}

TEST(Allocator, EmptyCacheAndRetries) {
  TraceScript script;
  for (int s = 0; s < 2; ++s) {
    const model::TimeNs at = s * 1000;
    script.step(s, at, at + 1000)
        .call("cudaLaunchKernel", at + 10, at + 20, static_cast<std::uint64_t>(s) + 1)
        .kernel(kAdd, at + 30, at + 40, static_cast<std::uint64_t>(s) + 1)
        .call("cudaFree", at + 100, at + 110)  // torch.cuda.empty_cache(): two blocks
        .call("cudaFree", at + 120, at + 130)
        .op("aten::empty", at + 200, at + 300)
        .call("cudaFree", at + 210, at + 220)  // making room
        .call("cudaMalloc", at + 230, at + 240);
  }
  const auto r = script.run(measure_allocator);
  EXPECT_EQ(r.fact(FactId::kAllocatorEmptiedPerStep), 1);
  EXPECT_EQ(r.fact(FactId::kAllocatorRetriesPerStep), 1);
  EXPECT_EQ(r.fact(FactId::kAllocatorEveryStep), 1);
}

TEST(Allocator, WithoutStepsOrCallsFactsAreMissing) {
  TraceScript calls_only;
  calls_only.call("cudaMalloc", 10, 20).kernel(kAdd, 0, 100);
  const auto no_steps = calls_only.run(measure_allocator);
  EXPECT_TRUE(no_steps.missing(FactId::kAllocatorMallocsPerStep));
  EXPECT_EQ(no_steps.analysis.transfers.allocator.malloc_calls, 1);
  TraceScript kernels_only;
  kernels_only.step(1, 0, 100).kernel(kAdd, 0, 100);
  EXPECT_TRUE(kernels_only.run(measure_allocator).missing(FactId::kAllocatorMallocsPerStep));
}

TEST(MemoryCurve, PeaksAndFractions) {
  TraceScript script;
  script.builder().timeline().devices[0].total_memory_bytes = 1000;
  script.step(1, 0, 100)
      .kernel(kAdd, 0, 100)
      .memory(10, 200, 400)
      .memory(20, 500, 800)
      .memory(30, 100, 900);
  const auto r = script.run(measure_memory);
  ASSERT_EQ(r.analysis.transfers.memory.size(), 1U);
  const auto& curve = r.analysis.transfers.memory[0];
  EXPECT_TRUE(curve.recorded);
  EXPECT_EQ(curve.peak_allocated, 500);
  EXPECT_EQ(curve.peak_reserved, 900);
  EXPECT_EQ(curve.reserved_at_peak, 800);
  EXPECT_EQ(curve.curve.size(), 3U);
  EXPECT_EQ(r.fact(FactId::kMemoryPeakFraction), 0.5);
  EXPECT_EQ(r.fact(FactId::kMemoryPeakReservedFraction), 0.9);
  EXPECT_EQ(r.fact(FactId::kMemoryReservedRatio), 1.6);
  EXPECT_TRUE(r.missing(FactId::kMemoryGrowthPerStep));
}

TEST(MemoryCurve, SteadyGrowthIsALeak) {
  TraceScript script;
  script.kernel(kAdd, 0, 100);
  for (int s = 0; s < 20; ++s) {
    script.step(s, s * 100, s * 100 + 100);
    script.memory(s * 100 + 10, 1000 + s * 8, -1).memory(s * 100 + 50, 3000 + s * 8, -1);
    script.memory(s * 100 + 90, 1004 + s * 8, -1);
  }
  const auto r = script.run(measure_memory);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kMemoryGrowthPerStep), 8);
  EXPECT_EQ(r.fact(FactId::kMemoryGrowthConsistency), 1);
  EXPECT_NEAR(r.fact(FactId::kMemoryFluctuation), 18 * 8 / 3152.0, 1e-12);
  EXPECT_EQ(r.fact(FactId::kMemoryPeakPeriod), 0);
  EXPECT_TRUE(r.missing(FactId::kMemoryPeakReserved));
}

TEST(MemoryCurve, PeriodicPeaks) {
  TraceScript script;
  script.kernel(kAdd, 0, 100);
  for (int s = 0; s < 13; ++s) {
    script.step(s, s * 100, s * 100 + 100);
    script.memory(s * 100 + 50, s % 4 == 0 ? 5000 : 1000, -1).memory(s * 100 + 90, 500, -1);
  }
  const auto r = script.run(measure_memory);
  EXPECT_EQ(r.fact(FactId::kMemoryPeakPeriod), 4);
  EXPECT_EQ(r.fact(FactId::kMemoryGrowthPerStep), 0);
  EXPECT_EQ(r.fact(FactId::kMemoryFluctuation), 0.8);
}

TEST(MemoryCurve, LongCurvesKeepTheirExtremes) {
  TraceScript script;
  script.step(1, 0, 100'000).kernel(kAdd, 0, 100);
  for (int i = 0; i < 10'000; ++i) script.memory(i * 10, i == 6789 ? 99'999 : i % 50, -1);
  const auto r = script.run(measure_memory);
  const auto& curve = r.analysis.transfers.memory[0].curve;
  EXPECT_LE(curve.size(), 400U);
  EXPECT_TRUE(std::any_of(curve.begin(), curve.end(),
                          [](const auto& point) { return point.allocated == 99'999; }));
  EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end(),
                             [](const auto& a, const auto& b) { return a.time < b.time; }));
}

TEST(MemoryCurve, NotRecorded) {
  TraceScript script;
  script.step(1, 0, 100).kernel(kAdd, 0, 100);
  const auto r = script.run(measure_memory);
  EXPECT_FALSE(r.analysis.transfers.memory[0].recorded);
  EXPECT_TRUE(r.missing(FactId::kMemoryPeakAllocated));
}

}  // namespace
}  // namespace pyrometer::analysis
