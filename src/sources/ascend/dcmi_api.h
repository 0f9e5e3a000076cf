// Huawei's library for its NPUs (DCMI), opened at run time. Layouts and numbers are those that its
// reference documents.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "sources/reading.h"
#include "sources/vendor_library.h"

namespace pyrometer::sources::ascend {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kInvalidParameter = -8001, kNotPermitted = -8002, kTimeout = -8006,
                        kInvalidDevice = -8007, kNoDevice = -8008, kNotReady = -8012,
                        kNotInContainer = -8013, kUpgrading = -8017, kNotSupported = -8255;
// Ours: the library lacks the function.
inline constexpr Return kFunctionNotFound = 1;

// Utilisation rates.
inline constexpr int kRateAiCore = 2, kRateHbmBandwidth = 10, kRateVector = 12, kRateOverall = 13;
// Frequencies.
inline constexpr int kFrequencyHbm = 6, kFrequencyAiCore = 7, kFrequencyAiCoreMost = 9;
// Memories of which ECC errors are counted.
inline constexpr int kEccDdr = 0, kEccHbm = 2;
inline constexpr int kDieOfChip = 1;  // the number that no other chip has
inline constexpr std::uint32_t kHealthUnknown = 0xFFFFFFFF;

struct ChipInfo {  // the newer version adds `npu_name`
  char type[32], name[32], version[32];
  std::uint32_t ai_cores;
  char npu_name[32];
};
struct HbmInfo {
  std::uint64_t size_mib;
  std::uint32_t megahertz;
  std::uint64_t used_mib;
  std::int32_t celsius;
  std::uint32_t bandwidth_percent;
};
struct MemoryInfo {
  std::uint64_t size_mib, available_mib;
  std::uint32_t megahertz;
  unsigned long huge_page_kib, huge_pages, huge_pages_free;
  std::uint32_t used_percent;
  unsigned char reserved[60];
};
struct PcieInfo {
  std::uint32_t vendor, subvendor, device, subdevice;
  std::int32_t domain;
  std::uint32_t bus, slot, function;
  unsigned char reserved[32];
};
struct EccInfo {
  std::int32_t is_on;
  std::uint32_t single_now, double_now, single_ever, double_ever;
  std::uint32_t single_isolated_pages, double_isolated_pages;
};
struct DieId {
  std::uint32_t words[5];
};
struct ProcessMemory {
  std::int32_t pid;
  unsigned long bytes;
};

// Functions that a library lacks are null. Devices are named by card and chip on it.
struct Api {
  Return (*init)() = nullptr;
  Return (*card_list)(int* count, int* cards, int length) = nullptr;
  Return (*device_count)(int card, int* count) = nullptr;
  // NPUs are numbered from 0 to below `most`; the card's other chips have the numbers behind.
  Return (*device_ids)(int card, int* most, int* mcu, int* cpu) = nullptr;
  Return (*logic_id)(int* id, int card, int device) = nullptr;
  Return (*driver_version)(char* text, unsigned length) = nullptr;

  Return (*chip_info_v2)(int card, int device, ChipInfo*) = nullptr;
  Return (*chip_info)(int card, int device, ChipInfo*) = nullptr;
  Return (*pcie_info)(int card, int device, PcieInfo*) = nullptr;
  Return (*die_id)(int card, int device, int kind, DieId*) = nullptr;

  Return (*utilization)(int card, int device, int kind, unsigned* percent) = nullptr;
  Return (*hbm_info)(int card, int device, HbmInfo*) = nullptr;
  Return (*memory_info)(int card, int device, MemoryInfo*) = nullptr;
  Return (*power)(int card, int device, int* tenths_of_watt) = nullptr;
  Return (*temperature)(int card, int device, int* celsius) = nullptr;
  Return (*frequency)(int card, int device, int kind, unsigned* megahertz) = nullptr;
  Return (*health)(int card, int device, unsigned* level) = nullptr;
  Return (*error_codes)(int card, int device, int* count, unsigned* codes,
                        unsigned length) = nullptr;
  Return (*ecc_info)(int card, int device, int memory, EccInfo*) = nullptr;
  // No length: the library writes as many as it knows.
  Return (*processes)(int card, int device, ProcessMemory*, int* count) = nullptr;
};

template <typename Function, typename... Arguments>
[[nodiscard]] Return call(Function* function, Arguments... arguments) {
  return function == nullptr ? kFunctionNotFound : function(arguments...);
}

[[nodiscard]] Api load_api(const Resolver& resolve);

struct Library {
  Api api;
  std::shared_ptr<void> handle;  // the last user closes it
};
using Opener = std::function<base::Result<Library>()>;
// Errors: kNotFound, kUnsupported.
[[nodiscard]] base::Result<Library> open_dcmi();

// Why a reading is missing after a call that returned `code` (not kSuccess).
[[nodiscard]] Gap gap_of(Return code);
[[nodiscard]] bool is_device_gone(Return code);

}  // namespace pyrometer::sources::ascend
