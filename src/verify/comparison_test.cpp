#include "verify/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "verify/random.h"

namespace pyrometer::verify {
namespace {

using model::Cause;

// Steps of about `ms`, of which `input_ms` the GPU waits for input.
RunSummary run(double ms, double input_ms, std::uint64_t seed, double batch = 32) {
  Random random(seed);
  RunSummary out{.label = "run", .recording = true, .ranks = 1, .gpus = {"NVIDIA H200"}};
  Series series;
  for (int i = 0; i < 200; ++i) {
    const double noise = 1 + 0.1 * (random.unit() - 0.5);
    StepRow row{.start = i * 1'000'000'000LL,
                .length = std::llround(ms * 1e6 * noise),
                .samples = std::llround(batch),
                .watched = true};
    const auto input = static_cast<model::DurationNs>(input_ms * 1e6 * noise);
    model::at(row.causes, Cause::kIdleInput) = input;
    model::at(row.causes, Cause::kComputeTensor) = row.length - input;
    series.push_back(row);
  }
  out.steps = 200;
  out.causes_known = true;
  out.samples_per_step = batch;
  out.samples_per_s = batch * 1000 / ms;
  out.kernels["gemm"] = {.calls = 10, .ns = 4e6};
  out.why_no_memory = "memory was not recorded";
  out.series.push_back(std::move(series));
  return out;
}

// Of 40 readings about `joules` apart, each of 100 samples.
EnergyRows energy(double joules, std::uint64_t seed) {
  Random random(seed);
  EnergyRows out;
  out.rows.emplace_back();
  for (int i = 0; i < 40; ++i) {
    out.rows[0].push_back({joules * (1 + 0.1 * (random.unit() - 0.5)), 100});
  }
  return out;
}

TEST(Comparison, EnergyPerSample) {
  std::vector<RunSummary> a = {run(20, 2, 1)};
  std::vector<RunSummary> b = {run(20, 2, 2)};
  a[0].energy = energy(500, 1);
  b[0].energy = energy(400, 2);
  const Change known = compare(a, b).energy;
  ASSERT_TRUE(known.known());
  EXPECT_NEAR(known.a, 5, 0.1);
  EXPECT_NEAR(known.b, 4, 0.1);
  EXPECT_TRUE(known.sure());
  EXPECT_TRUE(known.ratio.low < 0.8 && known.ratio.high > 0.8);
  b[0].energy = energy(500, 3);
  EXPECT_FALSE(compare(a, b).energy.sure());
  b[0].energy = {{}, "no permission"};
  EXPECT_EQ(compare(a, b).energy.missing, "run: no permission");
}

TEST(Comparison, AnUnknownWorldIsUnlikeOneOfSeveralOnly) {
  std::vector<RunSummary> a = {run(20, 2, 1)};
  std::vector<RunSummary> b = {run(20, 2, 2)};
  a[0].world_size = 1;
  b[0].world_size = 0;
  EXPECT_TRUE(compare(a, b).unlike.empty());
  a[0].world_size = 2;
  const std::vector<std::string> unlike = {"different world sizes: 2 against unknown"};
  EXPECT_EQ(compare(a, b).unlike, unlike);
}

TEST(Comparison, CausesMakeUpTheChange) {
  const std::vector<RunSummary> a = {run(20, 2, 1)};
  const std::vector<RunSummary> b = {run(30, 12, 2)};
  const Comparison c = compare(a, b);
  EXPECT_TRUE(c.unlike.empty());
  EXPECT_EQ(c.basis, Basis::kSteps);
  EXPECT_NEAR(c.step.ratio.value, 1.5, 0.02);
  EXPECT_TRUE(c.step.sure());
  ASSERT_EQ(c.causes.size(), 2u);
  EXPECT_EQ(c.causes[0].cause, Cause::kIdleInput);
  EXPECT_TRUE(c.causes[0].ns.sure());
  double sum = 0;
  for (const CauseChange& one : c.causes) sum += one.ns.difference.value;
  EXPECT_NEAR(sum, c.step.difference.value, 1);
  EXPECT_FALSE(c.memory.known());
  EXPECT_TRUE(c.kernels.empty());
}

TEST(Comparison, OtherBatchesAreComparedBySample) {
  const std::vector<RunSummary> a = {run(20, 2, 1, 32)};
  const std::vector<RunSummary> b = {run(30, 2, 2, 64)};
  const Comparison c = compare(a, b);
  ASSERT_EQ(c.unlike.size(), 1u);
  EXPECT_NE(c.unlike[0].find("32 against 64 samples"), std::string::npos);
  EXPECT_NEAR(decisive(c).ratio.value, 0.75, 0.02);
}

TEST(Comparison, RanksWorkAtTheSameTime) {
  std::vector<RunSummary> a = {run(20, 2, 1)};
  std::vector<RunSummary> b = {run(20, 2, 2)};
  b[0].series.push_back(b[0].series[0]);
  b[0].ranks = 2;
  const Comparison c = compare(a, b);
  EXPECT_FALSE(c.unlike.empty());
  EXPECT_NEAR(c.sample.ratio.value, 0.5, 0.02);
  EXPECT_NEAR(c.sample.b / c.sample.a, 0.5, 0.02);
}

TEST(Comparison, RunsThatDifferAmongThemselvesProveNothing) {
  const std::vector<RunSummary> a = {run(20, 2, 1), run(24, 2, 2), run(22, 2, 3)};
  const std::vector<RunSummary> b = {run(23, 2, 4), run(21, 2, 5), run(25, 2, 6)};
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.basis, Basis::kRuns);
  EXPECT_FALSE(c.step.sure());
  // A single run against several takes over their spread.
  const Comparison one = compare(std::span(a).first(1), b);
  EXPECT_TRUE(one.step.ratio.known);
  EXPECT_GT(one.step.ratio.high - one.step.ratio.low, 0.2);
}

TEST(Comparison, KernelsAndFindings) {
  std::vector<RunSummary> a = {run(20, 2, 1)};
  std::vector<RunSummary> b = {run(20, 2, 2)};
  a[0].kernels["old"] = {.calls = 1, .ns = 1e6};
  b[0].kernels["new"] = {.calls = 2, .ns = 2e6};
  b[0].kernels["gemm"] = {.calls = 10, .ns = 5e6};
  a[0].findings["input.bound"] = {.title = "waits"};
  b[0].findings["sync.blocking_calls"] = {.title = "blocks"};
  a[0].settings["cudnn.benchmark"] = "0";
  b[0].settings["cudnn.benchmark"] = "1";
  const Comparison c = compare(a, b);
  ASSERT_EQ(c.kernels.size(), 3u);
  EXPECT_EQ(c.kernels[0].fate, KernelFate::kNew);
  EXPECT_EQ(c.kernels[1].fate, KernelFate::kSlower);
  EXPECT_EQ(c.kernels[2].fate, KernelFate::kGone);
  ASSERT_EQ(c.findings.size(), 2u);
  EXPECT_TRUE(c.findings[0].in_a != c.findings[0].in_b);
  ASSERT_EQ(c.settings.size(), 1u);
}

TEST(Comparison, WithoutStepsSaysWhy) {
  std::vector<RunSummary> a = {run(20, 2, 1)};
  std::vector<RunSummary> b = {RunSummary{.label = "b", .why_no_steps = "no steps were found"}};
  const Comparison c = compare(a, b);
  EXPECT_FALSE(c.step.known());
  EXPECT_EQ(c.step.missing, "b: no steps were found");
}

}  // namespace
}  // namespace pyrometer::verify
