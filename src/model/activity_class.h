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
  kReduction,   // sums, scans, pooling, losses, matrix-vector products
  kNorm,        // normalisation, softmax
  kOptimizer,   // multi_tensor_apply and the like
  kIndexing,    // gather, scatter, embedding, sort, topk
  kCopyKernel,  // copies done by a kernel, fills, cat, transposes
  kLayout,      // layout conversion (nchwToNhwc …)
  kRandom,      // random number generation, dropout
  kComm,        // collectives and point-to-point
};

// Matrix units are tensor cores (NVIDIA) and MFMA (AMD).
enum class MatrixUnits : std::uint8_t { kUnknown, kYes, kNo };
enum class MathType : std::uint8_t {
  kUnknown,
  kFp64,
  kFp32,
  kTf32,
  kFp16,
  kBf16,
  kHalf,  // FP16 or BF16: the kernel's name does not say which
  kFp8,
  kFp4,
  kInt8,
};

// `matrix_units` and `math` are known for GEMM, convolution and attention only.
struct KernelTraits {
  KernelClass klass = KernelClass::kOther;
  MatrixUnits matrix_units = MatrixUnits::kUnknown;
  MathType math = MathType::kUnknown;
  bool cast = false;  // a copy that changes the element type
  friend bool operator==(const KernelTraits&, const KernelTraits&) = default;
};

// The classes that can use matrix units.
[[nodiscard]] constexpr bool is_matrix_class(KernelClass klass) {
  return klass == KernelClass::kGemm || klass == KernelClass::kConv ||
         klass == KernelClass::kAttention;
}

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
