// All GPUs at one moment, as `pyrometer stat` shows them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/procfs/process_owner.h"
#include "sources/reading.h"

namespace pyrometer::readout {

using sources::MetricId;
using sources::Value;

struct Process {
  std::int32_t pid = -1;  // the host's
  bool computes = true;   // false: only draws
  bool is_local = false;  // its source found it in /proc: the id means something here
  Value memory = Value::missing(sources::Absence::kNotAvailable);
  Value shared_memory = Value::missing(sources::Absence::kNotSupported, "of AMD GPUs");
  Value util = Value::missing(sources::Absence::kNotAvailable);
  sources::ProcessOwner owner;
};

enum class DeviceState : std::uint8_t { kOk, kLost, kAsleep };

// A GPU or a MIG instance.
struct Device {
  std::map<MetricId, Value> values;  // what was read; see value_of()
  std::vector<Process> processes;    // by process id
  DeviceState state = DeviceState::kOk;
  bool is_mig = false;
  std::string source;  // name of the source that told of it
};

struct Snapshot {
  std::int64_t unix_ms = 0;
  std::string host;
  std::vector<Device> devices;         // by the driver's number; instances after their GPU
  std::optional<base::Error> problem;  // why there are no devices
};

// What was read, or why it was not: never null.
[[nodiscard]] const Value& value_of(const Device& device, MetricId metric);
// Shorthands; nothing where the value is missing or of another kind.
[[nodiscard]] std::optional<double> number_of(const Device& device, MetricId metric);
[[nodiscard]] std::string text_of(const Device& device, MetricId metric);

// "0", or "0/7/0" for an instance: GPU, GPU instance, compute instance. "?" where not even the
// number is known.
[[nodiscard]] std::string label_of(const Device& device);

// "ok", "lost", "asleep".
[[nodiscard]] std::string_view state_name(DeviceState state);

struct ThrottleWord {
  std::string_view id;    // "power_cap"
  std::string_view text;  // "power cap"
};
// What holds the clocks down now. Idle clocks are not held down.
[[nodiscard]] std::vector<ThrottleWord> throttled_by(const Device& device);

// Whether `wanted` (number, UUID or its beginning, PCI address) names the device. A GPU's name
// covers its instances elsewhere, not here.
[[nodiscard]] bool is_called(const Device& device, std::string_view wanted);

}  // namespace pyrometer::readout
