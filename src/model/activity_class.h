// What a kernel or an API call is, decided once per distinct name by the tables in catalog/.
#pragma once

#include <cstdint>

namespace pyrometer::model {

// Decides compute.tensor/math/memory/other and comm in the waterfall.
enum class KernelClass : std::uint8_t {
  kOther,      // no known class
  kGemm,       // matrix product
  kConv,       // convolution
  kAttention,  // fused attention
  kElementwise,
  kReduction,
  kNorm,        // normalisation, softmax
  kOptimizer,   // multi_tensor_apply and the like
  kIndexing,    // gather, scatter, embedding, sort, topk
  kCopyKernel,  // copies done by a kernel, fills, cat, transposes
  kLayout,      // layout conversion (nchwToNhwc …)
  kRandom,      // random number generation, dropout
  kComm,        // collectives and point-to-point
};

enum class MatrixUnits : std::uint8_t { kUnknown, kYes, kNo };
enum class MathType : std::uint8_t { kUnknown, kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8 };

struct KernelTraits {
  KernelClass klass = KernelClass::kOther;
  MatrixUnits matrix_units = MatrixUnits::kUnknown;
  MathType math = MathType::kUnknown;
};

enum class ApiClass : std::uint8_t {
  kOther,
  kKernelLaunch,  // cudaLaunchKernel, cuLaunchKernelEx, hipLaunchKernel …
  kGraphLaunch,
  kCopyAsync,  // may still block when host memory is pageable
  kCopyBlocking,
  kMemset,
  kStreamSync,
  kDeviceSync,
  kEventSync,
  kAlloc,  // cudaMalloc, cuMemCreate, cuMemMap …
  kFree,
  kHostAlloc,  // cudaHostAlloc, cudaHostRegister
  kEventRecord,
  kStreamWaitEvent,
  kModuleLoad,
  kQuery,  // cheap bookkeeping
};

}  // namespace pyrometer::model
