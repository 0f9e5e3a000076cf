#include "analysis/kernels.h"

#include <gtest/gtest.h>

#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using model::KernelClass;
using testing::TraceScript;

constexpr const char* kGemm = "volta_sgemm_64x64_nt";                   // FP32, no matrix units
constexpr const char* kTensorGemm = "nvjet_sm90_tst_128x256_64x4_NTN";  // BF16, matrix units
constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, Add>(int)";
constexpr const char* kLayout = "void cudnn::ops::nchwToNhwcKernel<float>(x)";

TEST(Kernels, TableByNameAndClass) {
  TraceScript script;
  script.step(1, 0, 1000)
      .kernel(kGemm, 0, 100)
      .kernel(kGemm, 100, 400)
      .kernel(kTensorGemm, 400, 600)
      .kernel(kAdd, 600, 650);
  const auto r = script.run();
  const auto& table = r.analysis.kernels;
  ASSERT_EQ(table.by_name.size(), 3U);
  EXPECT_EQ(r.name(table.by_name[0].name), kGemm);
  EXPECT_EQ(table.by_name[0].stats.count, 2);
  EXPECT_EQ(table.by_name[0].stats.total, 400);
  EXPECT_EQ(table.by_name[0].stats.p50, 100);
  EXPECT_EQ(table.by_name[0].stats.max, 300);
  EXPECT_DOUBLE_EQ(table.by_name[0].share, 400.0 / 650);
  ASSERT_EQ(table.by_class.size(), 3U);
  EXPECT_EQ(table.by_class[0].klass, KernelClass::kGemm);
  EXPECT_EQ(table.by_class[0].matrix_units, model::MatrixUnits::kNo);
  EXPECT_EQ(table.by_class[1].matrix_units, model::MatrixUnits::kYes);
  EXPECT_EQ(table.all.count, 4);
  EXPECT_EQ(table.all.total, 650);
}

TEST(Kernels, SharesOfWindowAndOfMath) {
  TraceScript script;
  script.step(1, 0, 1000)
      .kernel(kGemm, 0, 400)
      .kernel(kTensorGemm, 400, 600)
      .kernel(kAdd, 600, 650)
      .kernel(kLayout, 650, 700);
  const auto r = script.run();
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsMatrixClassShare), 0.6);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsSimtShare), 0.4);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsMatrixShare), 200.0 / 600);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsFp32MathShare), 400.0 / 600);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsHalfMathShare), 200.0 / 600);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsTf32MathShare), 0);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsLayoutShare), 0.05);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsLayoutPerStep), 1);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsMatrixClassOfCompute), 600.0 / 700);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsMemoryBoundOfCompute), 100.0 / 700);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsPerStep), 4);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsShortShare), 1);
}

TEST(Kernels, CountsWhatStartsInTheWindowAndClipsShares) {
  TraceScript script;
  script.step(1, 100, 200)
      .kernel(kAdd, 50, 120)    // starts before: no count, 20 ns of the share
      .kernel(kAdd, 150, 180);  // inside
  const auto r = script.run();
  EXPECT_EQ(r.analysis.kernels.all.count, 1);
  EXPECT_EQ(r.analysis.kernels.all.total, 30);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsCount), 1);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsElementwiseShare), 0.5);
}

TEST(Kernels, TwoDevicesShareTheDenominator) {
  TraceScript script;
  script.step(1, 0, 100).kernel(kAdd, 0, 50, 0, 7, 0).kernel(kAdd, 0, 100, 0, 7, 1);
  const auto r = script.run();
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsElementwiseShare), 0.75);
}

TEST(Kernels, RegistersOfTheMostFrequentAndWeightedOccupancy) {
  TraceScript script;
  const auto wide = script.config(1000, 32, 100.0F);
  const auto narrow = script.config(10, 64, 25.0F);
  script.step(1, 0, 1000)
      .kernel(kAdd, 0, 10, 0, 7, 0, wide)
      .kernel(kAdd, 10, 40, 0, 7, 0, narrow)
      .kernel(kAdd, 40, 70, 0, 7, 0, narrow);
  const auto r = script.run();
  ASSERT_EQ(r.analysis.kernels.by_name.size(), 1U);
  EXPECT_EQ(r.analysis.kernels.by_name[0].registers, 64);
  EXPECT_FLOAT_EQ(r.analysis.kernels.by_name[0].occupancy_pct, (1000 + 1500) / 70.0F);
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsOccupancyMean), 2500.0 / 70);
  EXPECT_TRUE(r.missing(FactId::kKernelsSmallGridShare));  // multiprocessors not known
}

TEST(Kernels, DevicePropertiesDecideMatrixUnits) {
  TraceScript script;
  auto& device = script.builder().timeline().devices[0];
  device.compute_major = 7;
  device.multiprocessors = 80;
  const auto config = script.config(10, 32, 50.0F);
  script.step(1, 0, 100).kernel(kAdd, 0, 50, 0, 7, 0, config);
  const auto r = script.run();
  EXPECT_EQ(r.fact(FactId::kKernelsDeviceMatrixUnits), 1);
  EXPECT_EQ(r.fact(FactId::kKernelsDeviceTf32), 0);
  EXPECT_EQ(r.fact(FactId::kKernelsSmallGridShare), 1);
}

TEST(Kernels, ZeroDurationsDoNotDivide) {
  TraceScript script;
  script.step(1, 0, 100).kernel(kGemm, 50, 50);
  const auto r = script.run();
  EXPECT_EQ(r.analysis.kernels.all.count, 1);
  EXPECT_EQ(r.analysis.kernels.by_name[0].share, 0);
  EXPECT_EQ(r.fact(FactId::kKernelsGemmShare), 0);
  EXPECT_TRUE(r.missing(FactId::kKernelsMatrixShare));
  EXPECT_TRUE(r.missing(FactId::kKernelsShortTimeShare));
}

TEST(Kernels, WithoutKernelsFactsAreMissingNotZero) {
  TraceScript script;
  script.step(1, 0, 100).memset(10, 20);
  const auto r = script.run();
  EXPECT_TRUE(r.analysis.kernels.by_name.empty());
  EXPECT_EQ(r.fact(FactId::kKernelsCount), 0);
  EXPECT_TRUE(r.missing(FactId::kKernelsGemmShare));
  EXPECT_FALSE(r.analysis.facts.missing_reason(FactId::kKernelsGemmShare).empty());
}

TEST(Kernels, WithoutStepsThereIsNoPerStep) {
  TraceScript script;
  script.kernel(kAdd, 0, 10).kernel(kGemm, 20, 50);
  const auto r = script.run();
  EXPECT_EQ(r.analysis.kernels.all.count, 2);
  EXPECT_TRUE(r.missing(FactId::kKernelsPerStep));
  EXPECT_DOUBLE_EQ(r.fact(FactId::kKernelsGemmShare), 0.6);
}

}  // namespace
}  // namespace pyrometer::analysis
