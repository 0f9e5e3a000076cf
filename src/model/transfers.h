// Results of the passes about memory: copies, allocator, memory curve.
#pragma once

#include <vector>

#include "model/kernels.h"
#include "model/timeline.h"
#include "model/types.h"

namespace pyrometer::model {

struct CopyRow {
  CopyKind kind = CopyKind::kNotCopy;
  HostMemory host = HostMemory::kUnknown;
  bool is_memset = false;
  DurationStats stats;
  std::int64_t bytes = -1;       // -1: not given for any
  double bandwidth_gbs = -1;     // bytes over device time, GB/s (1e9); -1: unknown
  std::int64_t small_count = 0;  // below 64 KiB
  DurationNs exposed = 0;        // not covered by any other device activity
};

struct AllocatorStats {
  std::int64_t malloc_calls = 0;  // cudaMalloc-like in the window
  std::int64_t free_calls = 0;
  double mallocs_per_step = 0;  // over the steady steps (first step left out when there are ≥ 3)
  double frees_per_step = 0;
  DurationNs time = 0;      // host time inside
  bool every_step = false;  // in every steady step
};

struct MemoryPoint {
  TimeNs time = 0;
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
};

struct MemoryCurve {  // one device
  DeviceId device = 0;
  bool recorded = false;
  std::int64_t peak_allocated = -1, peak_reserved = -1, total = -1;  // bytes
  std::int64_t reserved_at_peak = -1;  // when peak_allocated was reached
  double growth_per_step = 0;          // bytes/step: Theil–Sen slope of per-step minima
  double growth_r = 0;                 // share of steps that follow the trend (0–1)
  std::vector<MemoryPoint> curve;      // thinned to ≤ 400 points, extremes kept
};

struct Transfers {
  std::vector<CopyRow> copies;
  AllocatorStats allocator;
  std::vector<MemoryCurve> memory;
};

}  // namespace pyrometer::model
