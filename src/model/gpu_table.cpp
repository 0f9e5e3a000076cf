#include "model/gpu_table.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pyrometer::model {
namespace {

// One of the words of a list that spaces separate.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (list.substr(0, space) == word) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

// Drivers report somewhat less than is sold (10 GB: 9.6 to 10.0 GiB); GPUs that share a name differ
// by a fifth at least.
bool memory_fits(const GpuInfo& gpu, std::int64_t bytes) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  constexpr double kTolerance = 0.09;
  const double reported = static_cast<double>(bytes) / kGib;
  return std::abs(reported - gpu.memory_gb) <= kTolerance * gpu.memory_gb;
}

template <typename Fits>
void keep_if(std::vector<const GpuInfo*>& rows, bool known, Fits fits) {
  if (known && rows.size() > 1) std::erase_if(rows, [&](const GpuInfo* g) { return !fits(*g); });
}

}  // namespace

double GpuInfo::half_tflops() const { return std::max(fp16_tflops, bf16_tflops); }

std::string_view GpuInfo::half() const { return bf16_tflops >= fp16_tflops ? "bf16" : "fp16"; }

bool GpuInfo::is_verified(std::string_view field) const { return !has_word(unverified, field); }

GpuMatch find_gpu(const GpuKey& key) {
  if (key.name.empty()) return {nullptr, "the GPU's name is not known"};
  std::vector<const GpuInfo*> rows;
  for (const GpuInfo& gpu : gpu_table()) {
    if (gpu.name == key.name) rows.push_back(&gpu);
  }
  const std::string name(key.name);
  if (rows.empty()) return {nullptr, name + " is not in the table of GPUs"};
  keep_if(rows, !key.pci_id.empty(),
          [&](const GpuInfo& gpu) { return has_word(gpu.pci_ids, key.pci_id); });
  keep_if(rows, key.memory_bytes > 0,
          [&](const GpuInfo& gpu) { return memory_fits(gpu, key.memory_bytes); });
  keep_if(rows, key.multiprocessors > 0,
          [&](const GpuInfo& gpu) { return gpu.multiprocessors == key.multiprocessors; });
  if (rows.size() == 1) return {rows.front(), {}};
  return {nullptr, rows.empty() ? "no GPU of the name " + name + " in the table fits this one"
                                : "GPUs that differ share the name " + name +
                                      ", and its memory size is not known"};
}

double peak_tflops(const GpuInfo& gpu, MathType math) {
  switch (math) {
    case MathType::kFp32:
      return gpu.fp32_tflops;
    case MathType::kTf32:
      return gpu.tf32_tflops;
    case MathType::kFp16:
      return gpu.fp16_tflops;
    case MathType::kBf16:
      return gpu.bf16_tflops;
    case MathType::kHalf:
      return gpu.half_tflops();
    case MathType::kFp8:
      return gpu.fp8_tflops;
    default:
      return -1;
  }
}

}  // namespace pyrometer::model
