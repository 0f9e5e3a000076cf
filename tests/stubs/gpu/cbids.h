// The calls that the simulated GPU knows, with CUPTI's numbers for them.
#pragma once

#include <cstdint>

struct StubCall {
  bool driver;
  std::uint32_t cbid;
  const char* name;        // as the log has it
  const char* cupti_name;  // as cuptiGetCallbackName gives it
};

inline constexpr StubCall kLaunchKernel{false, 211, "cudaLaunchKernel", "cudaLaunchKernel_v7000"};
inline constexpr StubCall kGraphLaunch{false, 312, "cudaGraphLaunch",
                                       "cudaGraphLaunch_ptsz_v10000"};
inline constexpr StubCall kMemcpy{false, 31, "cudaMemcpy", "cudaMemcpy_v3020"};
inline constexpr StubCall kMemcpyAsync{false, 41, "cudaMemcpyAsync", "cudaMemcpyAsync_v3020"};
inline constexpr StubCall kMemsetAsync{false, 51, "cudaMemsetAsync", "cudaMemsetAsync_v3020"};
inline constexpr StubCall kStreamSynchronize{false, 131, "cudaStreamSynchronize",
                                             "cudaStreamSynchronize_v3020"};
inline constexpr StubCall kDeviceSynchronize{false, 165, "cudaDeviceSynchronize",
                                             "cudaDeviceSynchronize_v3020"};
inline constexpr StubCall kMalloc{false, 20, "cudaMalloc", "cudaMalloc_v3020"};
inline constexpr StubCall kGetDevice{false, 17, "cudaGetDevice", "cudaGetDevice_v3020"};
inline constexpr StubCall kDriverLaunchKernel{true, 307, "cuLaunchKernel", "cuLaunchKernel"};

inline constexpr StubCall kStubCalls[] = {
    kLaunchKernel,      kGraphLaunch,       kMemcpy, kMemcpyAsync, kMemsetAsync,
    kStreamSynchronize, kDeviceSynchronize, kMalloc, kGetDevice,   kDriverLaunchKernel,
};
