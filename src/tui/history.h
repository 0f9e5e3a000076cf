// The past of a few metrics of each GPU, in bounded memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readout/live.h"

namespace pyrometer::tui {

using readout::MetricId;

// What graphs can show. Values are shares of the most possible, or of the largest seen so far where
// there is no such thing.
enum class Curve : std::uint8_t {
  kBusy,  // SM active; utilization where the GPU does not have that
  kTensor,
  kDram,
  kMemory,
  kPower,
  kTemperature,
  kPcie,    // both directions
  kNvlink,  // both directions
};
inline constexpr std::size_t kCurves = 8;
[[nodiscard]] std::string_view curve_name(Curve curve);
// Now, in its own unit; nothing where it is missing.
[[nodiscard]] std::optional<double> value_now(const readout::Device& device, Curve curve);

// Not thread-safe.
class History {
 public:
  static constexpr std::size_t kSamples = 1024;  // of each curve
  static constexpr std::size_t kDevices = 128;   // those not seen for longest make room

  // One sample for every GPU. GPUs that are not in the snapshot get a gap.
  void take(const readout::Snapshot& snapshot);

  // The latest `count` samples, oldest first, from 0 to 1, NaN where nothing was measured; fewer
  // where there are fewer. By UUID.
  [[nodiscard]] std::vector<float> latest(std::string_view uuid, Curve curve,
                                          std::size_t count) const;
  [[nodiscard]] std::size_t devices() const { return rings_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Ring {
    std::array<std::array<float, kSamples>, kCurves> values;
    std::array<double, kCurves> largest{};  // of curves without a limit
    std::uint64_t taken = 0;                // samples in all
    std::uint64_t seen = 0;                 // round
  };
  void put(Ring& ring, const readout::Device* device);

  std::map<std::string, std::unique_ptr<Ring>, std::less<>> rings_;
  std::uint64_t round_ = 0;
};

}  // namespace pyrometer::tui
