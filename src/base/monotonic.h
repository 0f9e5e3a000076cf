// Bounds of times that other processes or files tell of.
#pragma once

#include <cstdint>

namespace pyrometer::base {

// ns of CLOCK_MONOTONIC, which begins when a machine starts: none runs for 20 years, and sums of a
// few such times do not overflow. What is later was not read from that clock.
inline constexpr std::int64_t kLatestMonotonicNs =
    std::int64_t{20} * 365 * 24 * 3600 * 1'000'000'000;

}  // namespace pyrometer::base
