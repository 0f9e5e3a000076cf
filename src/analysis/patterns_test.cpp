#include "analysis/patterns.h"

#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using testing::TraceScript;

constexpr const char* kA = "void at::native::vectorized_elementwise_kernel<4, A>(int)";
constexpr const char* kB = "void at::native::vectorized_elementwise_kernel<4, B>(int)";
constexpr const char* kC = "void at::native::vectorized_elementwise_kernel<4, C>(int)";
constexpr const char* kBig = "volta_sgemm_64x64_nt";

TEST(Patterns, SequencesBetweenLargeKernels) {
  TraceScript script;
  model::TimeNs at = 0;
  for (int s = 0; s < 4; ++s) {
    const model::TimeNs begin = at;
    script.kernel(kBig, at, at + 50'000);
    at += 50'000;
    for (const char* name : {kA, kB, kC}) {
      script.kernel(name, at, at + 1000);
      at += 2000;
    }
    script.step(s, begin, at);
  }
  const auto r = script.run(find_patterns);
  ASSERT_EQ(r.analysis.patterns.sequences.size(), 1U);
  const auto& sequence = r.analysis.patterns.sequences[0];
  ASSERT_EQ(sequence.kernels.size(), 3U);
  EXPECT_EQ(r.name(sequence.kernels[0]), kA);
  EXPECT_EQ(r.name(sequence.kernels[2]), kC);
  EXPECT_FALSE(sequence.back_to_back);
  EXPECT_EQ(sequence.count, 4);
  EXPECT_EQ(sequence.device_total, 12'000);
  EXPECT_EQ(sequence.span_total, 4 * 5000);
  EXPECT_EQ(r.fact(FactId::kPatternsTopSequenceLength), 3);
  EXPECT_EQ(r.fact(FactId::kPatternsTopSequencePerStep), 1);
}

TEST(Patterns, CyclesBackToBackAreOneLoop) {
  TraceScript script;
  model::TimeNs at = 0;
  for (int i = 0; i < 10; ++i) {
    for (const char* name : {kA, kB}) {
      script.kernel(name, at, at + 100);
      at += 100;
    }
  }
  script.step(1, 0, at);
  const auto r = script.run(find_patterns);
  ASSERT_EQ(r.analysis.patterns.sequences.size(), 1U);
  const auto& loop = r.analysis.patterns.sequences[0];
  EXPECT_TRUE(loop.back_to_back);
  EXPECT_EQ(loop.kernels.size(), 2U);
  EXPECT_EQ(loop.count, 10);
  EXPECT_EQ(loop.span_total, 2000);
  EXPECT_EQ(r.fact(FactId::kPatternsLoopShare), 1);
}

TEST(Patterns, ACycleIsTheSameWhereverItIsEntered) {
  TraceScript script;
  model::TimeNs at = 0;
  const auto add = [&](const char* name, model::DurationNs duration) {
    script.kernel(name, at, at + duration);
    at += duration;
  };
  for (const char* name : {kA, kB, kA, kB, kA, kB}) add(name, 100);
  add(kBig, 50'000);
  for (const char* name : {kB, kA, kB, kA, kB, kA}) add(name, 100);
  script.step(1, 0, at);
  const auto r = script.run(find_patterns);
  ASSERT_EQ(r.analysis.patterns.sequences.size(), 1U);
  EXPECT_EQ(r.analysis.patterns.sequences[0].count, 6);
}

TEST(Patterns, StreamsAreReadApart) {
  TraceScript script;
  for (int i = 0; i < 3; ++i) {
    const model::TimeNs at = i * 10'000;
    script.step(i, at, at + 10'000);
    int k = 0;
    for (const char* name : {kA, kB, kC}) {
      script.kernel(name, at + k * 1000, at + k * 1000 + 500, 0, 7);
      script.kernel(kBig, at + k * 1000 + 100 * i, at + k * 1000 + 20'000, 0, 8);
      ++k;
    }
  }
  const auto r = script.run(find_patterns);
  ASSERT_EQ(r.analysis.patterns.sequences.size(), 1U);
  EXPECT_EQ(r.analysis.patterns.sequences[0].count, 3);
}

TEST(Patterns, IdenticalStepsAreCandidatesForGraphs) {
  for (const bool same_shapes : {true, false}) {
    TraceScript script;
    const auto one = script.config(10, 32, 50.0F);
    const auto other = script.config(20, 32, 50.0F);
    for (int s = 0; s < 4; ++s) {
      script.step(s, s * 1000, s * 1000 + 1000);
      script.kernel(kA, s * 1000 + 10, s * 1000 + 20, 0, 7, 0, same_shapes || s < 3 ? one : other);
    }
    const auto r = script.run(find_patterns);
    EXPECT_EQ(r.fact(FactId::kPatternsIdenticalSteps), 1);
    EXPECT_DOUBLE_EQ(r.fact(FactId::kPatternsIdenticalShapes), same_shapes ? 1 : 2.0 / 3);
    EXPECT_EQ(r.analysis.patterns.same_sequence_every_step, same_shapes);
  }
}

TEST(Patterns, OrderOfKernelsWithinAStreamCounts) {
  TraceScript script;
  for (int s = 0; s < 3; ++s) {
    script.step(s, s * 1000, s * 1000 + 1000);
    script.kernel(s == 2 ? kB : kA, s * 1000 + 10, s * 1000 + 20);
    script.kernel(s == 2 ? kA : kB, s * 1000 + 30, s * 1000 + 40);
  }
  const auto r = script.run(find_patterns);
  EXPECT_EQ(r.fact(FactId::kPatternsIdenticalSteps), 0.5);
}

// Steps of the given lengths, back to back.
testing::Analysed with_steps(const std::vector<model::DurationNs>& lengths) {
  TraceScript script;
  model::TimeNs at = 0;
  int number = 0;
  for (const model::DurationNs length : lengths) {
    script.step(number++, at, at + length).kernel(kA, at + 1, at + 2);
    at += length;
  }
  return script.run(find_patterns);
}

TEST(Patterns, OutliersWithTheirPeriod) {
  const auto r = with_steps({500, 100, 101, 300, 99, 100, 300, 102, 100, 300, 100});
  ASSERT_EQ(r.analysis.patterns.outliers.size(), 3U);
  EXPECT_EQ(r.analysis.patterns.outliers[0].step, 3U);
  EXPECT_EQ(r.analysis.patterns.outliers[0].length, 300);
  EXPECT_GT(r.analysis.patterns.outliers[0].sigmas, 3);
  EXPECT_EQ(r.analysis.patterns.outlier_period, 3);
  EXPECT_EQ(r.fact(FactId::kPatternsOutlierCount), 3);  // the first step is a warm-up
}

TEST(Patterns, RegularStepsHaveNoOutliers) {
  const auto r = with_steps({100, 100, 100, 100, 104, 100, 100});
  EXPECT_EQ(r.fact(FactId::kPatternsOutlierCount), 0);
  EXPECT_EQ(r.fact(FactId::kPatternsOutlierExcessShare), 0);
}

TEST(Patterns, TheQueueLeftAtTheEndIsNoOutlier) {
  TraceScript script;
  for (int s = 0; s < 8; ++s) script.step(s, s * 100, s * 100 + 100);
  script.call("cudaLaunchKernel", 790, 795, 1).kernel(kA, 2000, 2100, 1);
  const auto r = script.run(find_patterns);
  EXPECT_EQ(r.analysis.steps.steps.back().span.length(), 1400);
  EXPECT_EQ(r.fact(FactId::kPatternsOutlierCount), 0);
}

TEST(Patterns, FewStepsSayNothing) {
  const auto r = with_steps({100, 100, 300, 100});
  EXPECT_TRUE(r.missing(FactId::kPatternsOutlierCount));
  const auto none = TraceScript().run(find_patterns);
  EXPECT_TRUE(none.missing(FactId::kPatternsIdenticalSteps));
  EXPECT_TRUE(none.missing(FactId::kPatternsSequenceShare));
}

}  // namespace
}  // namespace pyrometer::analysis
