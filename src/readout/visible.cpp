#include "readout/visible.h"

#include <algorithm>
#include <charconv>

namespace pyrometer::readout {
namespace {

using Positions = std::vector<std::size_t>;  // in Snapshot::devices

// Whole GPUs in the order in which the runtime counts them. Lost ones are not counted.
Positions counted(const Snapshot& snapshot, Runtime runtime) {
  Positions gpus;
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const Device& device = snapshot.devices[i];
    if (device.is_mig || device.state == DeviceState::kLost) continue;
    if (runtime_of(device) == runtime) gpus.push_back(i);
  }
  return gpus;
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.emplace_back(word);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

// Those of `gpus` and of all devices that the list names. As in CUDA, a word that names none ends
// the list.
Positions named(const Snapshot& snapshot, const Positions& gpus, std::string_view list) {
  Positions found;
  for (const std::string& word : words_of(list)) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size()) {
      if (number >= gpus.size()) break;
      found.push_back(gpus[number]);
      continue;
    }
    const bool is_uuid = word.starts_with("GPU-") || word.starts_with("MIG-");
    const auto is_it = [&](const Device& device) { return is_uuid && is_called(device, word); };
    const auto device = std::ranges::find_if(snapshot.devices, is_it);
    if (device == snapshot.devices.end()) break;
    found.push_back(static_cast<std::size_t>(device - snapshot.devices.begin()));
  }
  return found;
}

// The device, or the whole GPU that it is an instance of, is among `seen`.
bool is_among(const Snapshot& snapshot, const Positions& seen, std::size_t position) {
  const std::string parent = text_of(snapshot.devices[position], MetricId::kGpuParentUuid);
  return std::ranges::any_of(seen, [&](std::size_t other) {
    return other == position ||
           (!parent.empty() && text_of(snapshot.devices[other], MetricId::kGpuUuid) == parent);
  });
}

class Hiding {
 public:
  Hiding(const Snapshot& snapshot, const Environment& environment)
      : snapshot_(snapshot), environment_(environment), names_(snapshot.devices.size()) {}

  // The variable counts GPUs as `gpus` does. Returns what stays, in its order.
  Positions apply(Runtime runtime, const std::string& variable, const Positions& gpus) {
    const std::optional<std::string> list = environment_(variable);
    if (!list) return gpus;
    Positions seen = named(snapshot_, gpus, *list);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (runtime_of(snapshot_.devices[i]) != runtime || !names_[i].empty()) continue;
      if (!is_among(snapshot_, seen, i)) names_[i] = variable;
    }
    return seen;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  const Snapshot& snapshot_;
  const Environment& environment_;
  std::vector<std::string> names_;
};

std::string number_text(std::size_t number) { return std::to_string(number); }

}  // namespace

Runtime runtime_of(const Device& device) {
  const std::string vendor = text_of(device, MetricId::kGpuVendor);
  if (vendor == "AMD") return Runtime::kRocm;
  if (vendor == "Huawei") return Runtime::kAscend;
  return Runtime::kCuda;
}

std::string_view variable_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::kRocm:
      return "ROCR_VISIBLE_DEVICES";
    case Runtime::kAscend:
      return "ASCEND_RT_VISIBLE_DEVICES";
    case Runtime::kCuda:
      break;
  }
  return "CUDA_VISIBLE_DEVICES";
}

std::vector<std::string> hidden_by(const Snapshot& snapshot, const Environment& environment) {
  Hiding hiding(snapshot, environment);
  for (const Runtime runtime : {Runtime::kCuda, Runtime::kRocm, Runtime::kAscend}) {
    const Positions seen =
        hiding.apply(runtime, std::string(variable_of(runtime)), counted(snapshot, runtime));
    // HIP counts what ROCr has left.
    if (runtime == Runtime::kRocm) hiding.apply(runtime, "HIP_VISIBLE_DEVICES", seen);
  }
  return hiding.take();
}

Grant grant(const Snapshot& snapshot, const std::vector<std::size_t>& devices, Ids ids,
            bool with_order) {
  Grant grant;
  if (devices.empty()) return grant;
  const Runtime runtime = runtime_of(snapshot.devices[devices.front()]);
  const Positions gpus = counted(snapshot, runtime);
  // Around GPUs that are lost or divided, the driver's numbers and the runtime's may differ.
  const bool is_plain = std::ranges::none_of(snapshot.devices, [&](const Device& device) {
    return runtime_of(device) == runtime &&
           (device.state == DeviceState::kLost || device.is_mig ||
            number_of(device, MetricId::kGpuMigEnabled).value_or(0) > 0);
  });
  bool by_number = ids == Ids::kIndex || runtime == Runtime::kAscend ||
                   (ids == Ids::kAuto && runtime == Runtime::kCuda && with_order && is_plain);
  std::string ordinals;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = snapshot.devices[devices[i]];
    const std::string uuid = text_of(device, MetricId::kGpuUuid);
    const auto number = std::ranges::find(gpus, devices[i]) - gpus.begin();
    if (i > 0) grant.value += ",";
    grant.value += (by_number || uuid.empty()) && !device.is_mig
                       ? number_text(static_cast<std::size_t>(number))
                       : uuid;
    ordinals += (i > 0 ? "," : "") + number_text(i);
  }
  grant.to_set.emplace_back(variable_of(runtime), grant.value);
  if (runtime == Runtime::kCuda && with_order) {
    grant.to_set.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  }
  // Whatever it was before, it would now count among those that are left.
  if (runtime == Runtime::kRocm) grant.to_set.emplace_back("HIP_VISIBLE_DEVICES", ordinals);
  return grant;
}

}  // namespace pyrometer::readout
