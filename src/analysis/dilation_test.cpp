#include "analysis/dilation.h"

#include <gtest/gtest.h>

#include "analysis/dilation_events.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::Dilation;
using model::FactId;
using model::TimeNs;
using testing::Analysed;
using testing::TraceScript;

// Two steps of ten operators, 10 µs apart, each with a launch in its middle.
void add_steps(TraceScript& script, std::string_view op = "aten::mm", TimeNs op_ns = 6'000,
               std::string_view shapes = "") {
  std::uint64_t correlation = 1;
  for (int s = 0; s < 2; ++s) {
    const TimeNs begin = s * 100'000;
    script.step(s, begin, begin + 100'000);
    for (int i = 0; i < 10; ++i) {
      const TimeNs at = begin + i * 10'000;
      script.op(op, at, at + op_ns, "1", shapes);
      script.call("cudaLaunchKernel", at + 3'000, at + 5'000, correlation);
      script.kernel("sgemm", at + 7'000, at + 8'000, correlation++);
    }
  }
}

TEST(Dilation, SettingsComeFromTheMetadata) {
  TraceScript script;
  add_steps(script);
  script.builder().timeline().info.record_shapes = true;
  script.builder().timeline().info.with_stack = false;
  const Analysed result = script.run(estimate_dilation);
  const Dilation& d = result.analysis.dilation;
  ASSERT_TRUE(d.available);
  EXPECT_NE(d.basis.find("record_shapes on (trace metadata)"), std::string::npos) << d.basis;
  EXPECT_NE(d.basis.find("with_stack off (trace metadata)"), std::string::npos) << d.basis;
  EXPECT_NE(d.basis.find("profile_memory off (the events recorded)"), std::string::npos);
}

TEST(Dilation, SettingsAreInferredFromWhatWasRecorded) {
  TraceScript plain;
  add_steps(plain);
  const double without = plain.run(estimate_dilation).analysis.dilation.share;
  TraceScript shapes;
  add_steps(shapes, "aten::mm", 6'000, "[[4, 4]]");
  const double with_shapes = shapes.run(estimate_dilation).analysis.dilation.share;
  EXPECT_GT(with_shapes, without);
  TraceScript stack;
  add_steps(stack);
  stack.builder().add_python(1'000, 2'000, stack.name("train.py(3): step"), stack.thread("1"));
  EXPECT_GT(stack.run(estimate_dilation).analysis.dilation.share, without);
}

TEST(Dilation, CountsPerStepOnTheThreadsThatFeedTheDevice) {
  TraceScript script;
  add_steps(script);
  for (int i = 0; i < 50; ++i) script.op("aten::add", i * 1'000, i * 1'000 + 500, "loader");
  const Analysed result = script.run(estimate_dilation);
  EXPECT_DOUBLE_EQ(result.analysis.dilation.ops_per_step, 10);
  EXPECT_DOUBLE_EQ(result.analysis.dilation.calls_per_step, 10);
  EXPECT_DOUBLE_EQ(result.fact(FactId::kDilationOpsPerStep), 10);
}

TEST(Dilation, PerOperatorIsWhatTheSpacingAllows) {
  TraceScript script;
  add_steps(script);
  const Dilation d = script.run(estimate_dilation).analysis.dilation;
  // Per operator: 3 µs to its call and 7 µs from there to the next operator.
  const double expected = d.share * (3'000 - d.event_floor_ns + 7'000 - d.event_floor_ns);
  EXPECT_NEAR(d.per_op_ns, expected, 0.1 * expected);
  EXPECT_LT(d.per_op_low_ns, d.per_op_ns);
  EXPECT_LT(d.per_op_ns, d.per_op_high_ns);
}

TEST(Dilation, SlowHostIsRecognisedByTrivialOperators) {
  TraceScript reference;
  add_steps(reference, "aten::view", 610);
  EXPECT_DOUBLE_EQ(reference.run(estimate_dilation).analysis.dilation.host_speed, 1);
  TraceScript slow;
  add_steps(slow, "aten::view", 2'400 + 1);
  EXPECT_NEAR(slow.run(estimate_dilation).analysis.dilation.host_speed, 4, 0.01);
  TraceScript coarse;  // microsecond clock: 3000 ns may be anything from 2 to 4 µs
  add_steps(coarse, "aten::view", 3'000);
  EXPECT_DOUBLE_EQ(coarse.run(estimate_dilation).analysis.dilation.host_speed, 1);
}

TEST(Dilation, WithoutHostEventsThereIsNone) {
  TraceScript script;
  script.kernel("sgemm", 100, 200, 1);
  const Analysed result = script.run(estimate_dilation);
  EXPECT_FALSE(result.analysis.dilation.available);
  EXPECT_TRUE(result.missing(FactId::kDilationPerOpNs));
}

TEST(ProfilerTime, IsBoundedByTheSpacing) {
  Dilation d;
  d.share_low = 0.2;
  d.share = 0.5;
  d.share_high = 0.8;
  d.event_floor_ns = 500;
  d.event_cap_ns = 30'000;
  d.input_event_cap_ns = 400;
  EXPECT_EQ(profiler_time(d, 300, false), (ProfilerTime{0, 0, 0}));
  EXPECT_EQ(profiler_time(d, 10'500, false), (ProfilerTime{2'000, 5'000, 8'000}));
  EXPECT_EQ(profiler_time(d, 1'000'500, false), (ProfilerTime{30'000, 30'000, 30'000}));
  // The loader's own loops: from not at all to twice the cap.
  EXPECT_EQ(profiler_time(d, 10'500, true), (ProfilerTime{0, 400, 800}));
}

}  // namespace
}  // namespace pyrometer::analysis
