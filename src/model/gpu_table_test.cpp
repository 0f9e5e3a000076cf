#include "model/gpu_table.h"

#include <gtest/gtest.h>

namespace pyrometer::model {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

TEST(GpuTable, FindsByTheExactNameAlone) {
  ASSERT_NE(find_gpu({.name = "NVIDIA L4"}).gpu, nullptr);
  EXPECT_EQ(find_gpu({.name = "NVIDIA L4"}).gpu->id, "L4");
  EXPECT_EQ(find_gpu({.name = "NVIDIA L40S"}).gpu->id, "L40S");
  for (const char* name : {"NVIDIA L", "L4", "nvidia l4", "NVIDIA L4 ", "NVIDIA L400", "",
                           "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H100"}) {
    const GpuMatch match = find_gpu({.name = name});
    EXPECT_EQ(match.gpu, nullptr) << name;
    EXPECT_FALSE(match.why_not.empty()) << name;
  }
}

TEST(GpuTable, SharedNamesAreToldApartOrLeftOpen) {
  const std::string_view name = "NVIDIA GeForce RTX 3080";
  EXPECT_NE(find_gpu({.name = name}).why_not.find("share the name"), std::string::npos);
  EXPECT_EQ(find_gpu({.name = name, .memory_bytes = 10240 * kMib}).gpu->id, "RTX-3080-10GB");
  EXPECT_EQ(find_gpu({.name = name, .memory_bytes = 12036 * kMib}).gpu->id, "RTX-3080-12GB");
  EXPECT_EQ(find_gpu({.name = name, .multiprocessors = 70}).gpu->id, "RTX-3080-12GB");
  EXPECT_EQ(find_gpu({.name = name, .pci_id = "10de:2216"}).gpu->id, "RTX-3080-10GB");
  // The 20 GB card that some shops sold is in no row.
  EXPECT_EQ(find_gpu({.name = name, .memory_bytes = 20480 * kMib}).gpu, nullptr);
}

TEST(GpuTable, RowsThatShareANameCanBeToldApart) {
  for (const GpuInfo& gpu : gpu_table()) {
    const GpuMatch match = find_gpu(
        {.name = gpu.name, .memory_bytes = static_cast<std::int64_t>(gpu.memory_gb * 1024) * kMib});
    ASSERT_NE(match.gpu, nullptr) << gpu.name;
    EXPECT_EQ(match.gpu->id, gpu.id);
  }
}

TEST(GpuTable, PeaksHaveASourceAndKeepTheirOrder) {
  for (const GpuInfo& gpu : gpu_table()) {
    SCOPED_TRACE(gpu.name);
    EXPECT_FALSE(gpu.source.empty());
    EXPECT_GT(gpu.half_tflops(), 0);
    EXPECT_EQ(peak_tflops(gpu, MathType::kHalf), gpu.half_tflops());
    EXPECT_LT(peak_tflops(gpu, MathType::kUnknown), 0);
    if (gpu.tf32_tflops > 0) {
      EXPECT_GE(gpu.half_tflops(), gpu.tf32_tflops);
    }
    if (gpu.fp32_tflops > 0) {
      EXPECT_GE(gpu.half_tflops(), gpu.fp32_tflops);
    }
    // Twice the rate with half the bits, never the four times of a table with sparsity.
    if (gpu.fp8_tflops > 0) {
      EXPECT_NEAR(gpu.fp8_tflops / gpu.half_tflops(), 2, 0.05);
    }
  }
}

TEST(GpuTable, WhatIsNotVerifiedIsNamed) {
  const GpuInfo* gpu = find_gpu({.name = "NVIDIA A10G"}).gpu;
  ASSERT_NE(gpu, nullptr);
  EXPECT_FALSE(gpu->is_verified("bf16_tflops"));
  EXPECT_TRUE(gpu->is_verified("memory_gb"));
  EXPECT_TRUE(gpu->is_verified("tflops"));  // no part of a word
}

}  // namespace
}  // namespace pyrometer::model
