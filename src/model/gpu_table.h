// What known GPUs can do at most, from catalog/gpus.json.
//
// A GPU that the table does not know is unknown: nothing here takes part of a name, a neighbour or
// a default for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/activity_class.h"

namespace pyrometer::model {

// Dense peaks with FP32 accumulation, TFLOP/s. -1 where the GPU has no such unit, or where nothing
// is known of it.
struct GpuInfo {
  std::string_view name;     // exactly as the driver reports it
  std::string_view id;       // of the row in the catalog
  std::string_view pci_ids;  // "10de:20f1 10de:20b1"; empty: not known
  double fp32_tflops;
  double tf32_tflops;
  double fp16_tflops;
  double bf16_tflops;
  double fp8_tflops;
  double memory_gb;             // as sold
  double memory_bandwidth_gbs;  // GB/s
  double pcie_gbs;              // GB/s per direction
  double tdp_w;
  std::int32_t multiprocessors;
  std::string_view unverified;  // "tdp_w sms": fields that no second source confirms
  std::string_view source;      // where the peaks come from

  // The faster of FP16 and BF16, and its name; -1 without matrix units.
  [[nodiscard]] double half_tflops() const;
  [[nodiscard]] std::string_view half() const;
  [[nodiscard]] bool is_verified(std::string_view field) const;
};

[[nodiscard]] std::span<const GpuInfo> gpu_table();

// What is known of a GPU. More than the name matters only where GPUs that differ share it.
struct GpuKey {
  std::string_view name;
  std::int64_t memory_bytes = -1;     // as the driver reports it; -1: not known
  std::int32_t multiprocessors = -1;  // -1: not known
  std::string_view pci_id;            // "10de:2206"; empty: not known
};

struct GpuMatch {
  const GpuInfo* gpu = nullptr;
  std::string why_not;  // where there is none: a clause, such as "… is not in the table of GPUs"
};

[[nodiscard]] GpuMatch find_gpu(const GpuKey& key);

// The peak for arithmetic of this type, TFLOP/s: of matrix units, but for FP32. Half of unknown
// kind counts as the faster of the two, so that a share of it is never overstated. -1: not known.
[[nodiscard]] double peak_tflops(const GpuInfo& gpu, MathType math);

}  // namespace pyrometer::model
