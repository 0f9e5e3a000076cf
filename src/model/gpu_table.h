// Peaks of known GPUs, from catalog/gpus.json.
#pragma once

#include <span>
#include <string_view>

namespace pyrometer::model {

// Dense peaks with FP32 accumulation, TFLOP/s; -1 where the GPU has no such unit.
struct GpuInfo {
  std::string_view name;  // exactly as the driver reports it
  std::string_view id;    // of the row in the catalog
  double fp32_tflops;
  double tf32_tflops;
  double half_tflops;
  std::string_view half;  // "bf16", or "fp16" where bf16 does not exist
  double pcie_gbs;        // per direction
};

[[nodiscard]] std::span<const GpuInfo> gpu_table();

// By exact name; nullptr for a GPU that the table does not know. Never guesses.
[[nodiscard]] const GpuInfo* find_gpu(std::string_view name);

}  // namespace pyrometer::model
