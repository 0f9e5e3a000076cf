// Classes for the names that random and hand-made timelines use, without the catalog's tables.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::testing {

inline model::RankAnalysis classified(const model::RankTimeline& t) {
  using model::ApiClass;
  using model::KernelClass;
  model::RankAnalysis a;
  a.kernel_traits.resize(t.names.size());
  a.api_class.resize(t.names.size(), ApiClass::kOther);
  for (model::NameId id = 0; id < t.names.size(); ++id) {
    const std::string_view name = t.name(id);
    model::KernelTraits& traits = a.kernel_traits[id];
    if (name.find("s16816gemm") != name.npos) {
      traits = {KernelClass::kGemm, model::MatrixUnits::kYes, model::MathType::kBf16};
    } else if (name.find("sgemm") != name.npos) {
      traits = {KernelClass::kGemm, model::MatrixUnits::kNo, model::MathType::kFp32};
    } else if (name.find("elementwise") != name.npos) {
      traits.klass = KernelClass::kElementwise;
    } else if (name.starts_with("nccl")) {
      traits.klass = KernelClass::kComm;
    }
    ApiClass& api = a.api_class[id];
    if (name == "cudaMalloc") api = ApiClass::kAlloc;
    if (name == "cudaFree") api = ApiClass::kFree;
    if (name == "cudaStreamSynchronize") api = ApiClass::kStreamSync;
    if (name == "cudaDeviceSynchronize") api = ApiClass::kDeviceSync;
    if (name == "cudaMemcpyAsync") api = ApiClass::kCopyAsync;
    if (name == "cudaLaunchKernel") api = ApiClass::kKernelLaunch;
  }
  return a;
}

}  // namespace pyrometer::testing
