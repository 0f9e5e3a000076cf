#include "analysis/launch.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";

TEST(Launch, QueueFromLaunchToEnd) {
  TraceScript script;
  script.step(1, 0, 1000)
      .call("cudaLaunchKernel", 100, 110, 1)  // meets an empty queue: latency 50
      .call("cudaLaunchKernel", 120, 130, 2)  // waits behind 1
      .kernel(kAdd, 150, 200, 1)
      .kernel(kAdd, 200, 300, 2)
      .call("cudaLaunchKernel", 600, 610, 3)  // empty again: latency 20
      .kernel(kAdd, 620, 700, 3);
  const auto r = script.run(measure_launches);
  ASSERT_EQ(r.analysis.host.launch.size(), 1U);
  const auto& stats = r.analysis.host.launch[0];
  EXPECT_EQ(stats.launches, 3);
  EXPECT_EQ(stats.per_step, 3);
  EXPECT_DOUBLE_EQ(stats.queue_empty_share, 0.7);  // busy 100–300 and 600–700
  EXPECT_DOUBLE_EQ(stats.queue_length_mean, (100 + 180 + 100) / 1000.0);
  EXPECT_EQ(stats.queue_length_max, 2);
  EXPECT_EQ(stats.empty_queue_launches, 2);
  EXPECT_EQ(stats.latency_p50, 20);
  EXPECT_EQ(stats.latency_p95, 50);
  EXPECT_EQ(stats.queue_delay_p50, 50);  // of 20, 50, 80
  EXPECT_DOUBLE_EQ(r.fact(FactId::kLaunchQueueEmptyShare), 0.7);
  EXPECT_EQ(r.fact(FactId::kLaunchLinkedShare), 1);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kLaunchCallShare), 0.03);
}

TEST(Launch, CurveIntegratesToTheMean) {
  TraceScript script;
  script.step(1, 0, 1000);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto at = static_cast<model::TimeNs>(i) * 37;
    script.call("cudaLaunchKernel", at, at + 5, i + 1);
    script.kernel(kAdd, at + 10, at + 10 + static_cast<model::TimeNs>(i * 7), i + 1,
                  static_cast<std::int32_t>(i % 3));
  }
  const auto r = script.run(measure_launches);
  const auto& stats = r.analysis.host.launch[0];
  ASSERT_EQ(stats.queue_curve.size(), 200U);
  const double mean = std::accumulate(stats.queue_curve.begin(), stats.queue_curve.end(), 0.0) /
                      static_cast<double>(stats.queue_curve.size());
  EXPECT_NEAR(mean, stats.queue_length_mean, 1e-9);
}

TEST(Launch, WorkLaunchedBeforeTheWindowIsQueuedAtItsStart) {
  TraceScript script;
  script.call("cudaLaunchKernel", 10, 20, 1)
      .step(1, 100, 200)
      .kernel(kAdd, 120, 150, 1)
      .call("cudaLaunchKernel", 160, 165, 2)
      .kernel(kAdd, 170, 190, 2);
  const auto r = script.run(measure_launches);
  EXPECT_DOUBLE_EQ(r.analysis.host.launch[0].queue_empty_share, 0.2);  // 150–160 and 190–200
  EXPECT_EQ(r.analysis.host.launch[0].launches, 1);
}

TEST(Launch, GraphLaunchIsOneCallWithManyKernels) {
  TraceScript script;
  script.step(1, 0, 100)
      .call("cudaGraphLaunch", 10, 20, 1)
      .kernel(kAdd, 30, 40, 1)
      .kernel(kAdd, 40, 50, 1);
  const auto r = script.run(measure_launches);
  EXPECT_EQ(r.analysis.host.launch[0].launches, 1);
  EXPECT_EQ(r.analysis.host.launch[0].queue_length_max, 2);
  EXPECT_EQ(r.analysis.host.launch[0].empty_queue_launches, 1);
  EXPECT_EQ(r.fact(FactId::kLaunchGraphShare), 1);
  EXPECT_TRUE(r.missing(FactId::kLaunchBlockingShare));
}

TEST(Launch, CallsThatOutlastTheirKernelsBlock) {
  TraceScript script;
  script.step(1, 0, 100)
      .call("cudaLaunchKernel", 10, 40, 1)
      .kernel(kAdd, 20, 35, 1)
      .call("cudaLaunchKernel", 50, 55, 2)
      .kernel(kAdd, 60, 70, 2);
  const auto r = script.run(measure_launches);
  EXPECT_EQ(r.fact(FactId::kLaunchBlockingShare), 0.5);
}

TEST(Launch, WithoutCallsFactsAreMissing) {
  TraceScript script;
  script.step(1, 0, 100).kernel(kAdd, 20, 30);
  const auto r = script.run(measure_launches);
  EXPECT_TRUE(r.missing(FactId::kLaunchQueueEmptyShare));
  EXPECT_DOUBLE_EQ(r.analysis.host.launch[0].queue_empty_share, 0.9);  // nothing ran
  EXPECT_EQ(r.analysis.host.launch[0].launches, 0);
}

TEST(Launch, AnEmptyTimeline) {
  TraceScript script;
  const auto r = script.run(measure_launches);
  EXPECT_TRUE(r.missing(FactId::kLaunchPerStep));
}

}  // namespace
}  // namespace pyrometer::analysis
