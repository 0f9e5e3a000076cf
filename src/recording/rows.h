// The rows of a recording, as the recorder takes them from the rings and as the file keeps them.
// Passive; times in ns of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::recording {

using NameId = std::uint32_t;  // of the recording (all processes share them); 0 is ""

enum class ActivityType : std::uint8_t { kKernel = 0, kCopy = 1, kMemset = 2 };

// Numbers are part of the file format; those of ring::RangeKind.
enum class RangeType : std::uint8_t {
  kUser = 0,
  kStep,
  kInput,
  kOptimizer,
  kForward,
  kBackward,
  kCheckpoint,
  kValidation,
  kCompile,
  kGc,
  kLogging,
  kLoaderStart,
  kEpoch,
  kSyncCall,
  kZeroGrad,
  kProfiler,
};
inline constexpr std::size_t kRangeTypes = 16;

// "step", "input", …; the same words stand in the file's documentation.
[[nodiscard]] const char* range_type_name(RangeType type);
// Ranges that stop the training, or that its author has marked; long ones are kept whenever they
// happen.
[[nodiscard]] bool is_pause(RangeType type);

struct ActivityRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;   // of copies and memsets
  NameId name = 0;           // of kernels
  std::uint32_t config = 0;  // row of the configurations, 0: unknown
  std::uint32_t correlation = 0;
  std::uint32_t stream = 0;
  std::uint32_t graph = 0;
  std::uint16_t device = 0;
  ActivityType type = ActivityType::kKernel;
  std::uint8_t copy_kind = 0;     // CUpti_ActivityMemcpyKind
  std::uint8_t memory_kinds = 0;  // CUpti_ActivityMemoryKind: source low, destination high nibble
};

struct ApiCallRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  NameId name = 0;
  std::uint32_t thread = 0;  // Linux thread id
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;
};

// A flag of RangeRow (ring/layout.h): no batch was ready though the pin-memory thread had one.
inline constexpr std::uint16_t kUnpinnedFlag = 8;

struct RangeRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t a = -1;  // meaning by type: ring/layout.h
  std::int64_t b = -1;
  NameId name = 0;
  std::uint32_t thread = 0;
  RangeType type = RangeType::kUser;
  std::uint16_t flags = 0;
};

struct ConfigRow {
  std::uint32_t grid[3] = {0, 0, 0};
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::int32_t registers_per_thread = -1;
};

// All events of a stretch of one process.
struct DetailRows {
  std::vector<ActivityRow> activities;
  std::vector<ApiCallRow> api_calls;
  std::vector<RangeRow> ranges;
  void clear() {
    activities.clear();
    api_calls.clear();
    ranges.clear();
  }
  [[nodiscard]] std::size_t size() const {
    return activities.size() + api_calls.size() + ranges.size();
  }
};

// A stretch whose events are all kept.
struct KeptWindow {
  model::Interval span;
  std::string why;  // "regular", "slowest"
};

struct ProcessRow {
  std::int64_t id = 0;  // 1, 2, … in the recording
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;  // 0: not ended, as far as is known
  std::int32_t rank = -1, world_size = -1, local_rank = -1;
  std::string program;  // its name alone
  std::string capture;  // GPU capture: "on", or why not
};

struct DeviceRow {
  std::int32_t ordinal = 0;  // as the process sees it
  std::string name;
  std::string uuid;
  std::int64_t total_memory_bytes = -1;
  std::int32_t compute_major = -1, compute_minor = -1;
  std::int32_t multiprocessors = -1;
};

}  // namespace pyrometer::recording
