#include "readout/device_words.h"

#include <string>

namespace pyrometer::readout {

using output::Ink;

Ink temperature_ink(const Device& device) {
  constexpr double kHot = 5;
  constexpr double kWarm = 15;
  const auto degrees = number_of(device, MetricId::kGpuTemperature);
  const auto limit = number_of(device, MetricId::kGpuTemperatureSlowdown);
  const double room = degrees && limit ? *limit - *degrees : kWarm;
  return room < kHot ? Ink::kBad : room < kWarm ? Ink::kWarn : Ink::kPlain;
}

Ink memory_ink(const Device& device) {
  constexpr double kNearlyFull = 0.95;
  const auto used = number_of(device, MetricId::kGpuMemoryUsed);
  const auto total = number_of(device, MetricId::kGpuMemoryTotal);
  return used && total && *used > *total * kNearlyFull ? Ink::kWarn : Ink::kPlain;
}

Ink busy_ink(std::optional<double> share) {
  constexpr double kBusy = 0.5;
  return share.value_or(0) >= kBusy ? Ink::kGood : Ink::kPlain;
}

output::Span condition_of(const Device& device) {
  if (device.state == DeviceState::kLost) return {"lost", Ink::kBad};
  if (device.state == DeviceState::kAsleep) return {"asleep", Ink::kFaint};
  std::string words;
  for (const ThrottleWord& word : throttled_by(device)) {
    words += (words.empty() ? "" : ", ") + std::string(word.text);
  }
  if (words.empty() && value_of(device, MetricId::kGpuThrottleMask).is_missing()) {
    return {device.is_mig ? "" : "–"};
  }
  return {words, Ink::kWarn};
}

}  // namespace pyrometer::readout
