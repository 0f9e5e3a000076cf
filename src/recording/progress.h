// How far a training is whose recording is being written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/waterfall.h"

namespace pyrometer::recording {

// The latest steps of one recorded process.
struct Progress {
  std::int32_t pid = 0;
  std::int32_t rank = -1;
  std::int64_t steps = 0;         // so far
  model::DurationNs step_ns = 0;  // mean of the latest; 0: none yet
  double samples_per_second = 0;  // of the latest; 0: not known
  model::CauseTimes causes{};     // of the latest that were watched; all zero where none was
};

// Of the processes that have not ended, or, with `at`, of those that ran then, as they stood at
// that time (CLOCK_MONOTONIC of the recording). Reads the latest rows alone, within one short
// transaction: the writer is never held up. Errors: kNotFound, kPermission, kFormat, kUnsupported,
// kIo.
[[nodiscard]] base::Result<std::vector<Progress>> read_progress(
    const std::string& path, std::optional<model::TimeNs> at = std::nullopt);

}  // namespace pyrometer::recording
