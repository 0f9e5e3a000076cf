#include "analysis/pauses.h"

#include <gtest/gtest.h>

#include "analysis/waterfall.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::Cause;
using model::FactId;
using model::TimeNs;
using testing::Analysed;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";
constexpr std::int64_t kMiB = 1 << 20;
constexpr TimeNs kMs = 1'000'000;
constexpr int kSteps = 8;
constexpr TimeNs kStep = 100 * kMs;

// Eight steps of 100 ms; the third one saves its state: its copies begin after 40 ms and the next
// launch is the next step's. `before` adds what the host does between its launch and the copies.
template <typename Before>
Analysed saved(Before before) {
  TraceScript script;
  std::uint64_t id = 1;
  for (int s = 0; s < kSteps; ++s) {
    const TimeNs at = s * kStep;
    script.step(s, at, at + kStep).op("aten::add", at, at + kMs);
    script.call("cudaLaunchKernel", at, at + kMs / 2, id).kernel(kAdd, at + kMs / 2, at + kMs, id);
    ++id;
    if (s != 2) continue;
    before(script, at);
    for (TimeNs copy = at + 40 * kMs; copy < at + 56 * kMs; copy += 2 * kMs) {
      script.op("aten::empty", copy - 20, copy - 10).op("aten::copy_", copy - 5, copy + kMs);
      script.call("cudaMemcpyAsync", copy, copy + kMs, id);
      script.copy(model::CopyKind::kD2H, model::HostMemory::kPageable, kMiB, copy, copy + kMs, id);
      ++id;
    }
  }
  return script.run(compute_waterfall, find_pauses);
}

model::Interval region_of(const Analysed& r) {
  EXPECT_EQ(r.analysis.pauses.inferred.size(), 1U);
  if (r.analysis.pauses.inferred.size() != 1) return {};
  EXPECT_EQ(r.analysis.pauses.inferred[0].cause, Cause::kIdleCheckpoint);
  return r.analysis.pauses.inferred[0].span;
}

TEST(Checkpoints, BeginWhereTheStateIsWalked) {
  const Analysed r = saved([](TraceScript& script, TimeNs at) {
    script.op("aten::mul", at + 4 * kMs, at + 5 * kMs);  // not of the saving
    for (TimeNs op = at + 10 * kMs; op < at + 11 * kMs; op += kMs / 4) {
      script.op("aten::detach", op, op + 1000).op("detach", op + 100, op + 900);
    }
  });
  EXPECT_EQ(region_of(r).start, 2 * kStep + 10 * kMs);
  EXPECT_EQ(region_of(r).end, 3 * kStep);
  // All of it but the launch: 90 ms of 800.
  EXPECT_DOUBLE_EQ(r.fact(FactId::kPausesCheckpointShare), 90.0 / 800);
}

TEST(Checkpoints, WithoutAWalkTheHostsOwnTimeBeforeBelongsToThem) {
  const Analysed r = saved(
      [](TraceScript& script, TimeNs at) { script.op("aten::mul", at + 4 * kMs, at + 5 * kMs); });
  EXPECT_EQ(region_of(r).start, 2 * kStep + 5 * kMs);
}

TEST(Checkpoints, AWaitForDataBeforeThemIsNotTheirs) {
  const Analysed r = saved([](TraceScript& script, TimeNs at) {
    script.note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 4 * kMs,
                at + 30 * kMs);
  });
  EXPECT_EQ(region_of(r).start, 2 * kStep + 30 * kMs);
}

TEST(Checkpoints, TheWaterfallsCausesOfTheRegionAddUpToIt) {
  const Analysed r = saved([](TraceScript&, TimeNs) {});
  ASSERT_EQ(r.analysis.pauses.inferred.size(), 1U);
  const model::InferredRegion& region = r.analysis.pauses.inferred[0];
  EXPECT_EQ(model::total(region.causes), region.span.length());
  EXPECT_EQ(model::at(region.causes, Cause::kCopyD2h), 8 * kMs);
  EXPECT_GT(model::at(region.causes, Cause::kIdleHost), 80 * kMs);
  EXPECT_EQ(model::at(region.causes, Cause::kIdleCheckpoint), 0);
}

}  // namespace
}  // namespace pyrometer::analysis
