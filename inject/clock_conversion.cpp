#include "clock_conversion.h"

#include "ring/writer.h"

namespace pyrometer::inject {

void ClockConversion::sample(const cupti::Api& api) {
  constexpr int kReadings = 16;
  std::uint64_t shortest = ~std::uint64_t{0};
  std::int64_t offset = offset_.load(std::memory_order_relaxed);
  for (int i = 0; i < kReadings; ++i) {
    std::uint64_t theirs = 0;
    const std::uint64_t before = ring::monotonic_ns();
    if (api.get_timestamp(&theirs) != cupti::kSuccess) {
      return;
    }
    const std::uint64_t took = ring::monotonic_ns() - before;
    if (took < shortest) {
      shortest = took;
      offset = static_cast<std::int64_t>(before + took / 2 - theirs);
    }
  }
  offset_.store(offset, std::memory_order_relaxed);
}

}  // namespace pyrometer::inject
