// Who stands in a recording: its processes, and what the processes on its GPUs were called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"

namespace pyrometer::recording {

struct CastMember {
  std::string program;     // empty: unknown
  std::int32_t rank = -1;  // -1: none
  bool is_recorded = false;
};

struct Cast {
  std::map<std::int32_t, CastMember> processes;  // by process id
  // From CLOCK_MONOTONIC to Unix time, in ns; nothing where it was not recorded.
  std::optional<std::int64_t> unix_offset_ns;
  std::string no_gpu;  // why no GPU could be read while it was recorded; empty: none was missed
};

// Errors: kNotFound, kPermission, kFormat, kUnsupported, kIo.
[[nodiscard]] base::Result<Cast> read_cast(const std::string& path);

}  // namespace pyrometer::recording
