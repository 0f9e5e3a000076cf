// Energy from power that is looked at again and again.
#pragma once

#include <cstdint>

namespace pyrometer::sources {

struct PolledEnergy {
  double joules = 0;

  // Power grows or falls evenly between two looks. Gaps of more than 10 s count nothing.
  void add(double watts, std::int64_t now_ns) {
    constexpr std::int64_t kLongestGap = 10'000'000'000;
    const std::int64_t elapsed = now_ns - last_ns_;
    if (last_watts_ >= 0 && elapsed <= kLongestGap) {
      joules += (last_watts_ + watts) / 2 * static_cast<double>(elapsed) * 1e-9;
    }
    last_watts_ = watts;
    last_ns_ = now_ns;
  }
  // The power is not known: what comes next is no continuation.
  void interrupt() { last_watts_ = -1; }

 private:
  double last_watts_ = -1;  // -1: none
  std::int64_t last_ns_ = 0;
};

}  // namespace pyrometer::sources
