#include "known_versions.h"

namespace pyrometer::inject {
namespace {

constexpr std::uint32_t kOldest = 17;         // CUDA 11.6: records have the layout of cupti_abi.h
constexpr std::uint32_t kLastOfOldForm = 99;  // CUDA 12.x counts by one, 13.0 is 130000
constexpr std::uint32_t kCuda130 = 130000;
constexpr std::uint32_t kCuda132 = 130200;
constexpr std::uint32_t kCuda133 = 130300;

}  // namespace

VersionTraits version_traits(std::uint32_t version) {
  VersionTraits traits;
  if (version < kOldest || (version > kLastOfOldForm && version < kCuda130)) {
    traits.supported = false;
    traits.note = "CUPTI of CUDA 11.6 or later is needed";
  } else if (version == kCuda130) {
    traits.flush = false;
    traits.disable = false;
    traits.host_pinned = true;
    traits.note =
        "CUPTI 13.0.0 crashes in flushes, deadlocks when switched off and crashes in long runs of "
        "CUDA graphs: records come only when buffers are full, capture stays on, device buffers "
        "lie in pinned memory; 13.0 Update 1 has none of this";
  } else if (version >= kCuda132 && version < kCuda133) {
    traits.note = "CUPTI 13.2 slows programs down more than other versions do";
  }
  return traits;
}

}  // namespace pyrometer::inject
