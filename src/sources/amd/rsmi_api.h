// ROCm SMI, for what the kernel's files do not tell. Opened at run time; where it is missing, these
// readings are missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "sources/vendor_library.h"

namespace pyrometer::sources::amd {

inline constexpr std::uint32_t kRsmiSuccess = 0;
inline constexpr std::uint64_t kRsmiMemoryBlock = 1;  // UMC, in the set of blocks that have ECC

struct RsmiErrorCount {
  std::uint64_t corrected, uncorrected;
};

// Functions that a library lacks are null.
struct RsmiApi {
  std::uint32_t (*init)(std::uint64_t flags) = nullptr;
  std::uint32_t (*shut_down)() = nullptr;
  std::uint32_t (*device_count)(std::uint32_t*) = nullptr;
  // Domain in the upper 32 bits, then bus (8 bits), device (5) and function (3).
  std::uint32_t (*pci_id)(std::uint32_t device, std::uint64_t*) = nullptr;
  // Ticks, the size of a tick in micro-joules, and a time.
  std::uint32_t (*energy)(std::uint32_t device, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  std::uint32_t (*ecc_count)(std::uint32_t device, std::uint64_t block, RsmiErrorCount*) = nullptr;
};

struct RsmiLibrary {
  RsmiApi api;
  std::shared_ptr<void> handle;  // the last user closes it
};

using RsmiOpener = std::function<base::Result<RsmiLibrary>()>;
[[nodiscard]] RsmiApi load_rsmi(const Resolver& resolve);
// Errors: kNotFound, kUnsupported.
[[nodiscard]] base::Result<RsmiLibrary> open_rsmi();

// "0000:03:00.0" of what pci_id gives.
[[nodiscard]] std::string rsmi_address(std::uint64_t pci_id);

}  // namespace pyrometer::sources::amd
