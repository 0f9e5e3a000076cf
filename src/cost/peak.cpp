#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cost/efficiency.h"
#include "cost/used_gpus.h"
#include "model/gpu_table.h"

namespace pyrometer::cost {
namespace {

using model::MathType;

constexpr double kOneType = 0.9;
constexpr double kMostUnknown = 0.2;

struct Share {
  MathType math;
  double part;  // of the matrix kernels' time whose arithmetic is known
};

struct TypeName {
  std::string_view name;   // for people
  std::string_view field;  // of the table of GPUs
};

TypeName name_of(MathType math) {
  switch (math) {
    case MathType::kFp32:
      return {"fp32", "fp32_tflops"};
    case MathType::kTf32:
      return {"tf32", "tf32_tflops"};
    case MathType::kFp16:
      return {"fp16", "fp16_tflops"};
    case MathType::kBf16:
      return {"bf16", "bf16_tflops"};
    case MathType::kHalf:
      return {"fp16 or bf16", "bf16_tflops"};
    case MathType::kFp8:
      return {"fp8", "fp8_tflops"};
    default:
      return {"other", ""};
  }
}

// The GPU of a rank; of several, all have to be of one kind.
model::GpuMatch gpu_of(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  model::GpuMatch match{nullptr, "no GPU was used"};
  const std::set<std::int32_t> used = used_gpus(timeline, analysis);
  for (const model::Device& device : timeline.devices) {
    if (!used.contains(device.ordinal)) continue;
    model::GpuMatch found = model::find_gpu({.name = device.name,
                                             .memory_bytes = device.total_memory_bytes,
                                             .multiprocessors = device.multiprocessors});
    if (found.gpu == nullptr) return found;
    if (match.gpu != nullptr && match.gpu->id != found.gpu->id) {
      return {nullptr, "the rank uses GPUs of several kinds"};
    }
    match = std::move(found);
  }
  return match;
}

}  // namespace

PeakResult peak_of(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  const model::GpuMatch match = gpu_of(timeline, analysis);
  if (match.gpu == nullptr) return {std::nullopt, match.why_not};
  const model::GpuInfo& gpu = *match.gpu;
  std::array<double, static_cast<std::size_t>(MathType::kInt8) + 1> time{};
  double all = 0;
  for (const model::ClassRow& row : analysis.kernels.by_class) {
    if (!model::is_matrix_class(row.klass)) continue;
    time[static_cast<std::size_t>(row.math)] += static_cast<double>(row.stats.total);
    all += static_cast<double>(row.stats.total);
  }
  if (all <= 0) return {std::nullopt, "no matrix kernels were seen, whose arithmetic would tell"};
  const double known = all - time[static_cast<std::size_t>(MathType::kUnknown)];
  if (known < (1 - kMostUnknown) * all) {
    return {std::nullopt,
            fmt::format("the arithmetic of {:.0f}% of the matrix kernels' time is not known",
                        100 * (1 - known / all))};
  }
  std::vector<Share> shares;
  for (std::size_t i = 1; i < time.size(); ++i) {
    if (time[i] > 0) shares.push_back({static_cast<MathType>(i), time[i] / known});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.part > b.part; });
  if (shares.front().part >= kOneType) shares = {{shares.front().math, 1}};
  Peak peak{.gpu = std::string(gpu.name), .source = std::string(gpu.source)};
  for (const Share& share : shares) {
    const TypeName type = name_of(share.math);
    const double tflops = model::peak_tflops(gpu, share.math);
    if (tflops <= 0) {
      return {std::nullopt,
              fmt::format("the table of GPUs has no {} peak of {}", type.name, gpu.name)};
    }
    peak.tflops += share.part * tflops;
    peak.verified = peak.verified && gpu.is_verified(type.field);
    if (!peak.dtype.empty()) peak.dtype += ", ";
    peak.dtype += type.name;
    if (shares.size() > 1) peak.dtype += fmt::format(" {:.0f}%", 100 * share.part);
  }
  return {std::move(peak), {}};
}

}  // namespace pyrometer::cost
