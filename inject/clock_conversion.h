// From CUPTI's clock to CLOCK_MONOTONIC, for versions that cannot be told which clock to use.
#pragma once

#include <atomic>
#include <cstdint>

#include "cupti_abi.h"

namespace pyrometer::inject {

class ClockConversion {
 public:
  // CUPTI already writes CLOCK_MONOTONIC.
  void use_none() { offset_.store(0, std::memory_order_relaxed); }

  // Compares the two clocks, each second or so: the system's clock, which CUPTI follows, is slewed
  // and stepped. Keeps the reading that was taken in the shortest time.
  void sample(const cupti::Api& api);

  // 0, "no time", stays 0.
  std::uint64_t to_monotonic(std::uint64_t time) const {
    return time == 0 ? 0
                     : time + static_cast<std::uint64_t>(offset_.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<std::int64_t> offset_{0};
};

}  // namespace pyrometer::inject
