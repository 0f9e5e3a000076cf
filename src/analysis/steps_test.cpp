#include "analysis/steps.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::Interval;
using testing::TraceScript;

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";

// A kernel of 10 ns every 100 ns, from 0 to 1000.
TraceScript kernels() {
  TraceScript script;
  for (model::TimeNs at = 0; at < 1000; at += 100) script.kernel(kAdd, at, at + 10);
  return script;
}

void expect_span(Interval span, model::TimeNs start, model::TimeNs end) {
  EXPECT_EQ(span.start, start);
  EXPECT_EQ(span.end, end);
}

TEST(Steps, WithMarkersTheWindowIsTheirs) {
  TraceScript script = kernels();
  script.step(7, 200, 400).step(8, 400, 600);
  const auto steps = script.run().analysis.steps;
  EXPECT_EQ(steps.source, model::StepSource::kProfilerMarkers);
  expect_span(steps.window, 200, 600);
  expect_span(steps.recorded, 0, 910);
}

// What happens before the first optimizer's end and after the last is no step's: start-up and a
// step that is cut off. It must not be taken for something that every step pays.
TEST(Steps, FromOptimizerRangesTheWindowEndsWithThem) {
  TraceScript script = kernels();
  for (const model::TimeNs end : {420, 620, 820}) {
    script.note("Optimizer.step#SGD.step", end - 20, end);
  }
  const auto steps = script.run().analysis.steps;
  EXPECT_EQ(steps.source, model::StepSource::kOptimizer);
  EXPECT_EQ(steps.steps.size(), 2U);
  expect_span(steps.window, 420, 820);
  expect_span(steps.recorded, 0, 910);
}

TEST(Steps, WithoutStepsTheWindowIsAllThatRan) {
  TraceScript script;
  script.kernel(kAdd, 50, 60).kernel(kAdd, 300, 400);
  const auto steps = script.run().analysis.steps;
  EXPECT_EQ(steps.source, model::StepSource::kNotFound);
  expect_span(steps.window, 50, 400);
  expect_span(steps.recorded, 50, 400);
}

}  // namespace
}  // namespace pyrometer::analysis
