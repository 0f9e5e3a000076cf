// A file comes from anywhere: a number is clipped to what its place can hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "recording/database.h"

namespace pyrometer::recording {

template <typename T>
[[nodiscard]] T clipped(std::int64_t value) {
  using Limits = std::numeric_limits<T>;
  return static_cast<T>(std::clamp<std::int64_t>(value, static_cast<std::int64_t>(Limits::min()),
                                                 sizeof(T) == sizeof(std::int64_t)
                                                     ? std::numeric_limits<std::int64_t>::max()
                                                     : static_cast<std::int64_t>(Limits::max())));
}

// -1 for NULL.
[[nodiscard]] inline std::int32_t or_unknown(const Statement& s, int column) {
  return s.is_null(column) ? -1 : clipped<std::int32_t>(s.integer(column));
}

}  // namespace pyrometer::recording
