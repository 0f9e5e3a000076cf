// Result of the kernels pass: device activities by name and by class, over the window.
#pragma once

#include <vector>

#include "model/activity_class.h"
#include "model/types.h"

namespace pyrometer::model {

struct DurationStats {  // ns
  std::int64_t count = 0;
  DurationNs total = 0;
  DurationNs mean = 0, p50 = 0, p95 = 0, max = 0;
};

struct KernelRow {
  NameId name = 0;
  KernelTraits traits;
  DurationStats stats;
  double share = 0;             // of all kernel time (0–1)
  std::int32_t registers = -1;  // of the most frequent configuration; -1: not given
  float occupancy_pct = -1;     // time-weighted mean; -1: not given
};

struct ClassRow {
  KernelClass klass = KernelClass::kOther;
  MatrixUnits matrix_units = MatrixUnits::kUnknown;
  MathType math = MathType::kUnknown;
  DurationStats stats;
  double share = 0;
};

struct KernelTable {
  std::vector<KernelRow> by_name;  // by total time, descending
  std::vector<ClassRow> by_class;
  DurationStats all;
};

}  // namespace pyrometer::model
