#include "readout/snapshot.h"

#include "readout/depth.h"
#include "sources/pci.h"

namespace pyrometer::readout {

using sources::Absence;

const Value& value_of(const Device& device, MetricId metric) {
  static const Value kLost = Value::missing(Absence::kDeviceLost, "it has fallen off the bus");
  static const Value kAsleep = Value::missing(Absence::kDeviceAsleep, "reading it would wake it");
  static const Value kOfWhole =
      Value::missing(Absence::kNotApplicable, "of the whole GPU, not of a MIG instance");
  static const Value kOfInstance =
      Value::missing(Absence::kNotApplicable, "of MIG instances, not of a whole GPU");
  static const Value kNeverSleeps =
      Value::missing(Absence::kNotApplicable, "the kernel never suspends it");
  static const Value kNotYet = Value::missing(Absence::kNotYet);
  static const Value kNotRead = Value::missing(Absence::kNotAvailable, "it was not read");
  const auto found = device.values.find(metric);
  if (found != device.values.end()) return found->second;
  if (device.state == DeviceState::kLost) return kLost;
  if (device.state == DeviceState::kAsleep) return kAsleep;
  if (metric == MetricId::kGpuAsleep) return kNeverSleeps;
  if (device.is_mig) return kOfWhole;
  switch (metric) {
    case MetricId::kGpuParentUuid:
    case MetricId::kGpuMigProfile:
    case MetricId::kGpuGpuInstance:
    case MetricId::kGpuComputeInstance:
      return kOfInstance;
    default:
      return depth_for(metric) == Depth::kTwice ? kNotYet : kNotRead;
  }
}

std::optional<double> number_of(const Device& device, MetricId metric) {
  const double* number = value_of(device, metric).number();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::string text_of(const Device& device, MetricId metric) {
  const std::string* text = value_of(device, metric).text();
  return text == nullptr ? std::string() : *text;
}

std::string label_of(const Device& device) {
  const auto part = [&](MetricId metric) {
    const auto number = number_of(device, metric);
    return number ? std::to_string(static_cast<int>(*number)) : std::string("?");
  };
  const std::string index = part(MetricId::kGpuIndex);
  if (!device.is_mig) return index;
  return index + "/" + part(MetricId::kGpuGpuInstance) + "/" + part(MetricId::kGpuComputeInstance);
}

std::string_view state_name(DeviceState state) {
  switch (state) {
    case DeviceState::kLost:
      return "lost";
    case DeviceState::kAsleep:
      return "asleep";
    case DeviceState::kOk:
      break;
  }
  return "ok";
}

std::vector<ThrottleWord> throttled_by(const Device& device) {
  const auto is_set = [&](MetricId metric) { return number_of(device, metric).value_or(0) > 0; };
  std::vector<ThrottleWord> words;
  const auto add = [&](MetricId metric, ThrottleWord word) {
    if (is_set(metric)) words.push_back(word);
  };
  add(MetricId::kGpuThrottlePowerCap, {"power_cap", "power cap"});
  add(MetricId::kGpuThrottleThermal, {"thermal", "heat"});
  add(MetricId::kGpuThrottleHwThermal, {"hw_thermal", "heat (hardware)"});
  add(MetricId::kGpuThrottlePowerBrake, {"power_brake", "power brake"});
  // The driver sets this bit along with its causes.
  if (!is_set(MetricId::kGpuThrottleHwThermal) && !is_set(MetricId::kGpuThrottlePowerBrake)) {
    add(MetricId::kGpuThrottleHwSlowdown, {"hw_slowdown", "hardware slowdown"});
  }
  add(MetricId::kGpuThrottleSyncBoost, {"sync_boost", "sync boost"});
  add(MetricId::kGpuThrottleAppClocks, {"app_clocks", "clocks set by user"});
  return words;
}

bool is_called(const Device& device, std::string_view wanted) {
  if (wanted.starts_with("GPU-") || wanted.starts_with("MIG-") || wanted.starts_with("NPU-")) {
    return text_of(device, MetricId::kGpuUuid).starts_with(wanted);
  }
  if (device.is_mig) return false;
  if (wanted.find(':') != std::string_view::npos) {
    return text_of(device, MetricId::kGpuPciId) == sources::kernel_pci_address(wanted);
  }
  return wanted == label_of(device);
}

}  // namespace pyrometer::readout
