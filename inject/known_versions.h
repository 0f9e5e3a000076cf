// What is known about single CUPTI versions.
#pragma once

#include <cstdint>

namespace pyrometer::inject {

struct VersionTraits {
  bool supported = true;
  bool flush = true;           // cuptiActivityFlushAll is safe
  bool disable = true;         // so is disabling CONCURRENT_KERNEL while the program runs
  bool host_pinned = false;    // device-side buffers must lie in pinned host memory
  const char* note = nullptr;  // what is done about it, for the report
};

// `version` as cuptiGetVersion gives it: 17 = CUDA 11.6, 19 = 12.0 … 28 = 12.9.1, then xxyyzz.
VersionTraits version_traits(std::uint32_t version);

}  // namespace pyrometer::inject
