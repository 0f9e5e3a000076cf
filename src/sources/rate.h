// Rates from counters that only grow.
#pragma once

#include <cstdint>
#include <optional>

#include "sources/reading.h"

namespace pyrometer::sources {

// Keeps the last value of one counter. Not thread-safe.
class Rate {
 public:
  // Growth per second since the last call, times `scale`. Missing with the first call, and where
  // the counter went back (reset, another device under the same name).
  [[nodiscard]] Value update(std::uint64_t counter, std::int64_t time_ns, double scale = 1);

 private:
  std::optional<std::uint64_t> last_;
  std::int64_t last_ns_ = 0;
};

}  // namespace pyrometer::sources
