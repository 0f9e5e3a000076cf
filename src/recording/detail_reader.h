// The events of the kept windows, as they lie in the file.
#pragma once

#include <vector>

#include "base/result.h"
#include "recording/damage.h"
#include "recording/database.h"
#include "recording/rows.h"

namespace pyrometer::recording {

struct Detail {
  DetailRows rows;
  std::vector<model::Interval> windows;  // of which all rows are here
  bool lost_all = false;                 // there were windows, and each lacks rows
};

// `devices` are those of the process. Rows that a damaged page takes with it, and rows that
// cannot be, take their windows along: a step that lacks some of its kernels would look idle.
[[nodiscard]] base::Result<Detail> read_detail(Database& database, std::int64_t process,
                                               const std::vector<DeviceRow>& devices,
                                               Damage& damage);

}  // namespace pyrometer::recording
