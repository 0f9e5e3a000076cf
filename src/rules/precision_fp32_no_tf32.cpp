#include "rules/precision_fp32_no_tf32.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/gpu_table.h"
#include "rules/build.h"
#include "rules/precision_amp.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "precision.fp32_no_tf32";
constexpr double kCritical = 0.3;
// Of the ratio of peaks, what real layers keep: tensor-core kernels reach less of their peak than
// FP32 ones do.
constexpr double kBestEfficiency = 1;
constexpr double kTypicalEfficiency = 0.6;
constexpr double kLowEfficiency = 0.4;

const model::GpuInfo* gpu_of(const Context& context, std::size_t position) {
  for (const model::Device& device : context.timeline().ranks[position].devices) {
    if (device.activities.size() == 0) continue;
    const model::GpuInfo* gpu = model::find_gpu({.name = device.name,
                                                 .memory_bytes = device.total_memory_bytes,
                                                 .multiprocessors = device.multiprocessors})
                                    .gpu;
    return gpu != nullptr && gpu->fp32_tflops > 0 ? gpu : nullptr;
  }
  return nullptr;
}

bool is_matrix(model::KernelClass klass) {
  return klass == model::KernelClass::kGemm || klass == model::KernelClass::kConv;
}

// FP32 matrix kernels × `matrix`, attention × `attention`, memory-bound kernels × `bytes`.
analysis::Edit on_units(double matrix, double bytes, double attention) {
  analysis::Edit edit;
  const auto fp32 = [](const model::KernelTraits& k) {
    return k.math == model::MathType::kFp32 || k.matrix_units == model::MatrixUnits::kNo;
  };
  edit.kernels.push_back({[fp32](const model::KernelTraits& k, model::NameId) {
                            return is_matrix(k.klass) && fp32(k);
                          },
                          {},
                          std::min(1.0, matrix),
                          1});
  edit.kernels.push_back({[fp32](const model::KernelTraits& k, model::NameId) {
                            return k.klass == model::KernelClass::kAttention && fp32(k);
                          },
                          {},
                          attention,
                          1});
  edit.kernels.push_back({[](const model::KernelTraits& k, model::NameId) {
                            return k.klass == model::KernelClass::kElementwise ||
                                   k.klass == model::KernelClass::kNorm ||
                                   k.klass == model::KernelClass::kReduction ||
                                   k.klass == model::KernelClass::kCopyKernel;
                          },
                          {},
                          bytes,
                          1});
  return edit;
}

}  // namespace

void judge_precision_fp32_no_tf32(const Context& context, Judgement& judgement) {
  const auto units = context.largest(FactId::kKernelsDeviceMatrixUnits);
  if (!units) return not_judged(judgement, kId, context.missing(FactId::kKernelsDeviceMatrixUnits));
  const auto simt = context.largest(FactId::kKernelsSimtShare);
  if (units->value < 1 || !simt) return;
  const model::RankAnalysis& rank = context.job().ranks[simt->position];
  const double fp32 = rank.facts.value_or(FactId::kKernelsFp32MathShare, 0) *
                      rank.facts.value_or(FactId::kKernelsMatrixClassShare, 0);
  const double share = std::min(simt->value, fp32);
  if (share < context.threshold(kId, "share") || amp_is_without_effect(rank.facts)) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = share >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share;
  finding.ranks = context.ranks_with(FactId::kKernelsSimtShare, context.threshold(kId, "share"));
  const model::GpuInfo* gpu = gpu_of(context, simt->position);
  const bool tf32 = rank.facts.value_or(FactId::kKernelsDeviceTf32, 0) >= 1;
  finding.summary = fmt::format(
      "{} of the device time goes into matrix kernels in plain FP32; the GPU's tensor cores stay "
      "idle.",
      percent(share));
  if (!tf32) {
    finding.fix = "Use fp16 autocast with a GradScaler (this GPU has neither TF32 nor bf16).";
    finding.fix_code =
        "scaler = torch.amp.GradScaler('cuda')\nwith torch.autocast('cuda', "
        "dtype=torch.float16):\n    loss = model(x)\nscaler.scale(loss).backward()";
  }
  add_evidence(context, verdict, FactId::kKernelsSimtShare, simt->value, "share");
  add_evidence(context, verdict, FactId::kKernelsFp32MathShare,
               rank.facts.value_or(FactId::kKernelsFp32MathShare, 0));
  if (gpu == nullptr) {
    finding.no_prediction = "the peaks of this GPU are not in the table";
  } else {
    const double half = gpu->fp32_tflops / gpu->half_tflops();
    const double worst = gpu->tf32_tflops > 0 ? gpu->fp32_tflops / gpu->tf32_tflops : half;
    set_edits(
        verdict, on_units(half / kBestEfficiency, 0.5, 0.3),
        on_units(half / kTypicalEfficiency, 0.65, 0.5),
        on_units(std::min(1.0, worst / kLowEfficiency), 1, 1),
        fmt::format("FP32 matrix kernels at the ratio of peaks ({:.0f} to {:.0f} TFLOP/s {}), "
                    "with 40 to 100% of that ratio reached; memory-bound kernels on half to "
                    "all of the bytes; at worst TF32 only",
                    gpu->fp32_tflops, gpu->half_tflops(), gpu->half()));
  }
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
