#include "analysis/ops.h"

#include <gtest/gtest.h>

#include "analysis/optimizer.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using testing::Analysed;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";

const model::OpRow& row(const Analysed& r, std::string_view name) {
  for (const model::OpRow& op : r.analysis.host.ops) {
    if (r.name(op.name) == name) return op;
  }
  static const model::OpRow none;
  return none;
}

TEST(Ops, SelfAndTotalFollowNesting) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::linear", 100, 300)
      .op("aten::addmm", 120, 280)
      .call("cudaLaunchKernel", 110, 115, 1)  // by linear itself
      .call("cudaLaunchKernel", 150, 160, 2)  // by addmm
      .kernel(kAdd, 400, 430, 1)
      .kernel(kAdd, 430, 530, 2);
  const auto r = script.run(measure_ops);
  EXPECT_EQ(row(r, "aten::linear").device_total, 130);
  EXPECT_EQ(row(r, "aten::linear").device_self, 30);
  EXPECT_EQ(row(r, "aten::linear").host_total, 200);
  EXPECT_EQ(row(r, "aten::linear").host_self, 40);
  EXPECT_EQ(row(r, "aten::linear").kernels, 2);
  EXPECT_EQ(row(r, "aten::addmm").device_total, 100);
  EXPECT_EQ(row(r, "aten::addmm").device_self, 100);
  EXPECT_EQ(r.analysis.host.ops.front().device_total, 130);
  EXPECT_EQ(r.fact(FactId::kOpsPerStep), 2);
  EXPECT_EQ(r.fact(FactId::kOpsAttributedShare), 1);
}

TEST(Ops, AnOperatorWithinItsOwnNameCountsOnce) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("aten::to", 100, 300)
      .op("aten::to", 120, 280)
      .call("cudaLaunchKernel", 150, 160, 1)
      .kernel(kAdd, 400, 450, 1);
  const auto r = script.run(measure_ops);
  EXPECT_EQ(row(r, "aten::to").count, 2);
  EXPECT_EQ(row(r, "aten::to").host_total, 200);
  EXPECT_EQ(row(r, "aten::to").host_self, 200);
  EXPECT_EQ(row(r, "aten::to").device_total, 50);
  EXPECT_EQ(row(r, "aten::to").device_self, 50);
}

TEST(Ops, GraphLaunchesCountAllTheirKernels) {
  TraceScript script;
  script.step(1, 0, 1000)
      .op("replay", 100, 200)
      .call("cudaGraphLaunch", 110, 150, 9)
      .kernel(kAdd, 300, 310, 9)
      .kernel(kAdd, 310, 340, 9)
      .kernel(kAdd, 340, 345, 9);
  const auto r = script.run(measure_ops);
  EXPECT_EQ(row(r, "replay").device_total, 45);
  EXPECT_EQ(row(r, "replay").kernels, 3);
}

TEST(Ops, AnnotationsTakeWhatOtherThreadsLaunchMeanwhile) {
  TraceScript script;
  script.step(1, 0, 1000)
      .note("backward", 100, 500)
      .op("MulBackward0", 200, 300, "2")
      .call("cudaLaunchKernel", 210, 220, 1, "2")
      .call("cudaLaunchKernel", 600, 610, 2, "2")  // after the annotation
      .kernel(kAdd, 400, 440, 1)
      .kernel(kAdd, 700, 800, 2);
  const auto r = script.run(measure_ops);
  EXPECT_TRUE(row(r, "backward").is_annotation);
  EXPECT_EQ(row(r, "backward").device_total, 40);
  EXPECT_EQ(row(r, "backward").device_self, 0);
  EXPECT_EQ(row(r, "MulBackward0").device_self, 40);
}

TEST(Ops, StepMarkersAreNoRowsAndSelfTimesAddUp) {
  TraceScript script;
  script.step(1, 0, 1000)
      .note("forward", 10, 500)
      .op("aten::add", 20, 100)
      .call("cudaLaunchKernel", 30, 40, 1)
      .call("cudaLaunchKernel", 200, 210, 2)  // in the annotation, in no operator
      .kernel(kAdd, 50, 60, 1)
      .kernel(kAdd, 220, 245, 2);
  const auto r = script.run(measure_ops);
  ASSERT_EQ(r.analysis.host.ops.size(), 2U);
  model::DurationNs self = 0;
  for (const auto& op : r.analysis.host.ops) self += op.device_self;
  EXPECT_EQ(self, 35);
  EXPECT_EQ(row(r, "forward").device_self, 25);
  EXPECT_EQ(row(r, "forward").device_total, 35);
  EXPECT_EQ(row(r, "forward").host_self, 490 - 80);
}

TEST(Ops, RowsOutsideTheWindowAreLeftOut) {
  TraceScript script;
  script.op("aten::before", 0, 50)
      .step(1, 100, 200)
      .op("aten::inside", 110, 120)
      .kernel(kAdd, 130, 140);
  const auto r = script.run(measure_ops);
  ASSERT_EQ(r.analysis.host.ops.size(), 1U);
  EXPECT_EQ(row(r, "aten::inside").count, 1);
}

TEST(Ops, WithoutOperatorsFactsAreMissing) {
  TraceScript script;
  script.kernel(kAdd, 0, 10);
  const auto r = script.run(measure_ops);
  EXPECT_TRUE(r.analysis.host.ops.empty());
  EXPECT_TRUE(r.missing(FactId::kOpsPerStep));
}

TEST(Optimizer, CostAndStyleOfALoop) {
  TraceScript script;
  script.step(1, 0, 1000)
      .note("Optimizer.step#SGD.step", 100, 300)
      .op("aten::add_", 110, 150)
      .op("aten::mul_", 160, 200)
      .call("cudaLaunchKernel", 120, 130, 1)
      .call("cudaLaunchKernel", 170, 180, 2)
      .kernel(kAdd, 500, 520, 1)
      .kernel(kAdd, 520, 550, 2);
  const auto r = script.run(measure_optimizer);
  EXPECT_EQ(r.analysis.facts.text(FactId::kOptimizerName), "SGD");
  EXPECT_EQ(r.analysis.facts.text(FactId::kOptimizerStyle), "loop");
  EXPECT_DOUBLE_EQ(r.fact(FactId::kOptimizerHostShare), 0.2);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kOptimizerDeviceShare), 0.05);
  EXPECT_EQ(r.fact(FactId::kOptimizerKernelsPerStep), 2);
  EXPECT_EQ(r.fact(FactId::kOptimizerOpsPerStep), 2);
  EXPECT_EQ(r.fact(FactId::kOptimizerCallsPerStep), 1);
}

TEST(Optimizer, StyleFollowsTheStrongestSign) {
  for (const auto& [op, style] :
       {std::pair{"aten::_foreach_add_", "foreach"}, std::pair{"aten::_fused_adamw_", "fused"}}) {
    TraceScript script;
    script.step(1, 0, 1000)
        .note("Optimizer.step#AdamW.step", 100, 300)
        .op("aten::add_", 110, 120)
        .op(op, 130, 150)
        .kernel(kAdd, 500, 520);
    const auto r = script.run(measure_optimizer);
    EXPECT_EQ(r.analysis.facts.text(FactId::kOptimizerStyle), style);
  }
}

TEST(Optimizer, WrappersCountOnce) {
  TraceScript script;
  script.step(1, 0, 1000)
      .note("Optimizer.step#Wrapper.step", 100, 400)
      .note("Optimizer.step#Adam.step", 150, 350)
      .kernel(kAdd, 500, 520);
  const auto r = script.run(measure_optimizer);
  EXPECT_EQ(r.fact(FactId::kOptimizerCallsPerStep), 1);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kOptimizerHostShare), 0.3);
  EXPECT_TRUE(r.missing(FactId::kOptimizerStyle));  // nothing recorded inside
}

TEST(Optimizer, WithoutRangesFactsAreMissing) {
  TraceScript script;
  script.step(1, 0, 1000).kernel(kAdd, 500, 520);
  const auto r = script.run(measure_optimizer);
  EXPECT_TRUE(r.missing(FactId::kOptimizerHostShare));
  EXPECT_TRUE(r.missing(FactId::kAmpGradScaler));
}

TEST(Optimizer, SkippedStepsOfTheGradScaler) {
  TraceScript script;
  constexpr const char* kUnscale = "aten::_amp_foreach_non_finite_check_and_unscale_";
  script.step(1, 0, 100)
      .step(2, 100, 200)
      .op(kUnscale, 10, 20)
      .note("Optimizer.step#Adam.step", 30, 40)
      .op(kUnscale, 110, 120)  // and no optimizer step
      .kernel(kAdd, 130, 140);
  const auto r = script.run(measure_optimizer);
  EXPECT_EQ(r.fact(FactId::kAmpGradScaler), 1);
  EXPECT_EQ(r.fact(FactId::kAmpSkippedSteps), 1);
}

}  // namespace
}  // namespace pyrometer::analysis
