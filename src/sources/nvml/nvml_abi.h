// What Pyrometer uses of NVML's binary interface, written down from its public documentation: no
// NVIDIA header is needed to build. tests/sources/nvml_abi_check.cpp compares this with nvml.h
// where there is one.
#pragma once

#include <cstdint>

namespace pyrometer::sources::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kInsufficientPower = 8;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kIrqIssue = 11;
inline constexpr Return kLibraryNotFound = 12;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kOperatingSystem = 17;
inline constexpr Return kLibRmVersionMismatch = 18;
inline constexpr Return kInUse = 19;
inline constexpr Return kMemory = 20;
inline constexpr Return kNoData = 21;
inline constexpr Return kArgumentVersionMismatch = 25;
inline constexpr Return kDeprecated = 26;
inline constexpr Return kNotReady = 27;
inline constexpr Return kGpuNotFound = 28;
inline constexpr Return kUnknown = 999;

struct DeviceTag;
using Handle = DeviceTag*;
struct EventSetTag;
using EventSet = EventSetTag*;
struct GpmSampleTag;
using GpmSample = GpmSampleTag*;

// What a call that reports success without writing leaves behind: NVML's own "not available".
inline constexpr std::uint32_t kNoValue32 = 0xFFFFFFFF;
inline constexpr std::uint64_t kNoValue64 = 0xFFFFFFFFFFFFFFFF;

template <typename Struct>
constexpr std::uint32_t struct_version(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | version << 24;
}

struct PciInfo {
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct Utilization {
  std::uint32_t gpu, memory;  // percent
};

struct Memory {  // version 1: `used` includes what the driver reserves
  std::uint64_t total, free, used;
};

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};

struct ProcessInfoV1 {
  std::uint32_t pid;
  std::uint64_t used_memory;
};
struct ProcessInfoV2 {
  std::uint32_t pid;
  std::uint64_t used_memory;
  std::uint32_t gpu_instance, compute_instance;
};
// Also what some R535 drivers fill in where ProcessInfoV2 is asked for.
struct ProcessDetail {
  std::uint32_t pid;
  std::uint64_t used_memory;
  std::uint32_t gpu_instance, compute_instance;
  std::uint64_t used_protected_memory;
};

struct ProcessUtilization {
  std::uint32_t pid;
  std::uint64_t time_us;
  std::uint32_t sm, memory, encoder, decoder;  // percent
};

struct ViolationTime {
  std::uint64_t reference_us, violation_ns;
};

struct DeviceAttributes {
  std::uint32_t multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  std::uint32_t gpu_instance_slices, compute_instance_slices;
  std::uint64_t memory_mib;
};

// What NVML calls GRID's licensable features (structure version 4).
struct LicensableFeature {
  std::uint32_t code, is_licensed;
  char license[128], product[128];
  std::uint32_t is_enabled;
  std::uint32_t expiry[4];
};
struct LicensableFeatures {
  std::int32_t is_supported;
  std::uint32_t count;
  LicensableFeature features[3];
  // The driver may know more of them than this header.
  unsigned char room[1024];
};

struct EventData {
  Handle device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};

enum ValueType : std::uint32_t {
  kDouble = 0,
  kUint = 1,
  kUlong = 2,
  kUlongLong = 3,
  kSlongLong = 4,
  kSint = 5,
  kUshort = 6,
};

struct FieldValue {
  std::uint32_t field, scope;
  std::int64_t time_us, latency_us;
  std::uint32_t type;  // ValueType
  Return result;
  union {
    double number;
    std::uint32_t u32;
    std::uint64_t u64;
    std::int64_t s64;
    std::int32_t s32;
    std::uint16_t u16;
  } value;
};

struct GpmSupport {
  std::uint32_t version;
  std::uint32_t supported;
};

struct GpmMetric {
  std::uint32_t id;
  Return result;
  double value;
  const char* names[3];
};

// The array is the last member and longer or shorter in other headers; the library goes by
// `count`. The room here is more than any of them has.
struct GpmMetricsGet {
  std::uint32_t version, count;
  GpmSample first, second;
  GpmMetric metrics[512];
};

// Fields of nvmlDeviceGetFieldValues.
inline constexpr std::uint32_t kFieldMemoryTemperature = 82;
inline constexpr std::uint32_t kFieldNvlinkTx = 138;  // KiB, all links with kAllLinks
inline constexpr std::uint32_t kFieldNvlinkRx = 139;
inline constexpr std::uint32_t kFieldPowerAverage = 185;  // mW
inline constexpr std::uint32_t kFieldPowerInstant = 186;
inline constexpr std::uint32_t kFieldPcieTx = 197;  // bytes
inline constexpr std::uint32_t kFieldPcieRx = 198;
inline constexpr std::uint32_t kAllLinks = 0xFFFFFFFF;

inline constexpr std::uint32_t kClockGraphics = 0;
inline constexpr std::uint32_t kClockSm = 1;
inline constexpr std::uint32_t kClockMemory = 2;
inline constexpr std::uint32_t kClockVideo = 3;
inline constexpr std::uint32_t kSlowdownThreshold = 1;
inline constexpr std::uint32_t kPcieTxCounter = 0;
inline constexpr std::uint32_t kPcieRxCounter = 1;
inline constexpr std::uint32_t kCorrected = 0;
inline constexpr std::uint32_t kUncorrected = 1;
inline constexpr std::uint32_t kVolatile = 0;
inline constexpr std::uint32_t kAggregate = 1;
inline constexpr std::uint32_t kPolicyPower = 0;
inline constexpr std::uint32_t kPolicyThermal = 1;
inline constexpr std::uint32_t kMostNvlinks = 18;
inline constexpr std::uint64_t kEventXid = 8;
inline constexpr std::uint32_t kEnabled = 1;

}  // namespace pyrometer::sources::nvml
