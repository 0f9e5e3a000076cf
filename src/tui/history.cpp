#include "tui/history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pyrometer::tui {
namespace {

using readout::Device;
using readout::number_of;

constexpr auto kNotYet = sources::Absence::kNotYet;
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

std::optional<double> sum(const Device& device, MetricId a, MetricId b) {
  const auto first = number_of(device, a);
  const auto second = number_of(device, b);
  if (!first && !second) return std::nullopt;
  return first.value_or(0) + second.value_or(0);
}

// The most that the curve can reach; nothing where that is not known.
std::optional<double> limit_of(const Device& device, Curve curve) {
  constexpr double kHottest = 100;
  switch (curve) {
    case Curve::kBusy:
    case Curve::kTensor:
    case Curve::kDram:
      return 1;
    case Curve::kMemory:
      return number_of(device, MetricId::kGpuMemoryTotal);
    case Curve::kPower:
      return number_of(device, MetricId::kGpuPowerLimit);
    case Curve::kTemperature:
      return number_of(device, MetricId::kGpuTemperatureSlowdown).value_or(kHottest);
    case Curve::kPcie:
    case Curve::kNvlink:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string_view curve_name(Curve curve) {
  switch (curve) {
    case Curve::kBusy:
      return "SM active";
    case Curve::kTensor:
      return "tensor active";
    case Curve::kDram:
      return "DRAM active";
    case Curve::kMemory:
      return "memory";
    case Curve::kPower:
      return "power";
    case Curve::kTemperature:
      return "temperature";
    case Curve::kPcie:
      return "PCIe";
    case Curve::kNvlink:
      return "NVLink";
  }
  return {};
}

std::optional<double> value_now(const Device& device, Curve curve) {
  switch (curve) {
    case Curve::kBusy: {
      const readout::Value& active = value_of(device, MetricId::kGpuSmActive);
      if (active.number() != nullptr) return *active.number();
      // Utilization for a moment, until the first counters are there, would mislead.
      const bool will_come = active.gap() != nullptr && active.gap()->absence == kNotYet;
      return will_come ? std::nullopt : number_of(device, MetricId::kGpuUtil);
    }
    case Curve::kTensor:
      return number_of(device, MetricId::kGpuTensorActive);
    case Curve::kDram:
      return number_of(device, MetricId::kGpuDramActive);
    case Curve::kMemory:
      return number_of(device, MetricId::kGpuMemoryUsed);
    case Curve::kPower:
      return number_of(device, MetricId::kGpuPower);
    case Curve::kTemperature:
      return number_of(device, MetricId::kGpuTemperature);
    case Curve::kPcie:
      return sum(device, MetricId::kGpuPcieRx, MetricId::kGpuPcieTx);
    case Curve::kNvlink:
      return sum(device, MetricId::kGpuNvlinkRx, MetricId::kGpuNvlinkTx);
  }
  return std::nullopt;
}

void History::put(Ring& ring, const Device* device) {
  const std::size_t at = ring.taken % kSamples;
  for (std::size_t i = 0; i < kCurves; ++i) {
    const auto curve = static_cast<Curve>(i);
    const auto value = device == nullptr ? std::nullopt : value_now(*device, curve);
    if (!value || !std::isfinite(*value)) {
      ring.values[i][at] = kNothing;
      continue;
    }
    ring.largest[i] = std::max(ring.largest[i], *value);
    // Kept in the curve's own unit as long as its limit may still grow.
    const auto limit = limit_of(*device, curve);
    ring.values[i][at] = static_cast<float>(limit && *limit > 0 ? *value / *limit : *value);
  }
  ++ring.taken;
}

void History::take(const readout::Snapshot& snapshot) {
  ++round_;
  for (const Device& device : snapshot.devices) {
    const std::string uuid = text_of(device, MetricId::kGpuUuid);
    if (uuid.empty()) continue;
    auto& ring = rings_[uuid];
    if (ring == nullptr) ring = std::make_unique<Ring>();
    if (ring->seen == round_) continue;  // told twice
    ring->seen = round_;
    put(*ring, &device);
  }
  for (auto& [uuid, ring] : rings_) {
    if (ring->seen != round_) put(*ring, nullptr);
  }
  while (rings_.size() > kDevices) {
    rings_.erase(
        std::ranges::min_element(rings_, {}, [](const auto& entry) { return entry.second->seen; }));
  }
}

std::vector<float> History::latest(std::string_view uuid, Curve curve, std::size_t count) const {
  std::vector<float> values;
  const auto found = rings_.find(uuid);
  if (found == rings_.end()) return values;
  const Ring& ring = *found->second;
  const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(ring.taken, kSamples));
  count = std::min(count, known);
  const auto i = static_cast<std::size_t>(curve);
  const bool is_open = curve == Curve::kPcie || curve == Curve::kNvlink;
  const double whole = is_open ? ring.largest[i] : 1;
  for (std::size_t k = 0; k < count; ++k) {
    const float value = ring.values[i][(ring.taken - count + k) % kSamples];
    values.push_back(whole > 0 ? static_cast<float>(value / whole) : value);
  }
  return values;
}

std::size_t History::bytes() const { return rings_.size() * sizeof(Ring); }

}  // namespace pyrometer::tui
