#include "readout/board.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace pyrometer::readout {
namespace {

// Finds the processes of one device while a batch is filed: there may be thousands.
class ProcessFiler {
 public:
  explicit ProcessFiler(Device& device) : device_(device) {
    for (std::size_t i = 0; i < device.processes.size(); ++i) {
      places_.emplace(device.processes[i].pid, i);
    }
  }

  Process& operator[](std::int32_t pid) {
    const auto [place, is_new] = places_.emplace(pid, device_.processes.size());
    if (is_new) device_.processes.push_back({.pid = pid});
    return device_.processes[place->second];
  }

 private:
  Device& device_;
  std::unordered_map<std::int32_t, std::size_t> places_;
};

void file(const sources::Reading& reading, Process& process) {
  if (reading.metric == MetricId::kGpuProcessMemory) process.memory = reading.value;
  if (reading.metric == MetricId::kGpuProcessName) {
    process.is_local = reading.value.text() != nullptr;
  }
  if (reading.metric == MetricId::kGpuProcessSharedMemory) process.shared_memory = reading.value;
  if (reading.metric == MetricId::kGpuProcessUtil) process.util = reading.value;
  if (reading.metric == MetricId::kGpuProcessCompute) {
    process.computes = reading.value.number() != nullptr && *reading.value.number() > 0;
  }
}

void settle(Device& device) {
  device.is_mig = device.values.contains(MetricId::kGpuParentUuid);
  // "NVIDIA H200 MIG 1g.18gb": NVML tells the profile in the name alone.
  constexpr std::string_view kMark = " MIG ";
  const std::string name = text_of(device, MetricId::kGpuName);
  const std::size_t mark = name.find(kMark);
  if (device.is_mig && mark != std::string::npos) {
    device.values.insert_or_assign(MetricId::kGpuMigProfile,
                                   Value::text(name.substr(mark + kMark.size())));
  }
  const auto is_set = [&device](MetricId metric) {
    return number_of(device, metric).value_or(0) > 0;
  };
  device.state = is_set(MetricId::kGpuLost)     ? DeviceState::kLost
                 : is_set(MetricId::kGpuAsleep) ? DeviceState::kAsleep
                                                : DeviceState::kOk;
  std::ranges::sort(device.processes, {}, &Process::pid);
  // Thousands of processes that have gone leave no room behind.
  constexpr std::size_t kFew = 64;
  if (device.processes.capacity() > 4 * device.processes.size() + kFew) {
    device.processes.shrink_to_fit();
  }
}

// What a GPU that does not answer told before is no reading of now. What it is stays true.
void drop_what_has_passed(Device& device) {
  if (device.state == DeviceState::kOk) return;
  constexpr std::array kStays = {MetricId::kGpuIndex, MetricId::kGpuName,       MetricId::kGpuUuid,
                                 MetricId::kGpuPciId, MetricId::kGpuParentUuid, MetricId::kGpuLost,
                                 MetricId::kGpuAsleep};
  std::erase_if(device.values, [&](const auto& entry) {
    return entry.second.number() != nullptr &&
           std::ranges::find(kStays, entry.first) == kStays.end();
  });
  device.processes.clear();
}

// A process of an instance also stands in the list of the whole GPU.
void show_once(std::vector<Device>& devices) {
  std::map<double, std::set<std::int32_t>> in_instances;  // by number of the GPU
  for (const Device& device : devices) {
    if (!device.is_mig) continue;
    for (const Process& process : device.processes) {
      in_instances[number_of(device, MetricId::kGpuIndex).value_or(-1)].insert(process.pid);
    }
  }
  for (Device& device : devices) {
    if (device.is_mig) continue;
    const auto& elsewhere = in_instances[number_of(device, MetricId::kGpuIndex).value_or(-1)];
    std::erase_if(device.processes,
                  [&](const Process& process) { return elsewhere.contains(process.pid); });
  }
}

bool is_of_device(const sources::Reading& reading) {
  return reading.subject.device >= 0 && (reading.subject.scope == sources::Scope::kDevice ||
                                         reading.subject.scope == sources::Scope::kDeviceProcess);
}

}  // namespace

std::size_t Board::number_of_source(std::string_view name) {
  const auto found = std::ranges::find(sources_, name);
  if (found != sources_.end()) return static_cast<std::size_t>(found - sources_.begin());
  sources_.emplace_back(name);
  return sources_.size() - 1;
}

void Board::take(const sources::Batch& batch) {
  const std::size_t source = number_of_source(batch.source);
  std::set<std::int32_t> told;
  std::set<std::int32_t> with_new_processes;
  for (const sources::Reading& reading : batch.readings) {
    if (!is_of_device(reading)) continue;
    told.insert(reading.subject.device);
    // The number of processes comes with every list of them, also with an empty one.
    if (reading.metric == MetricId::kGpuProcesses)
      with_new_processes.insert(reading.subject.device);
  }
  if (batch.group == "fast") {
    std::erase_if(devices_, [&](const auto& entry) {
      return entry.first.source == source && !told.contains(entry.first.number);
    });
  }
  for (const std::int32_t number : with_new_processes) {
    if (const auto found = devices_.find({source, number}); found != devices_.end()) {
      found->second.processes.clear();
    }
  }
  std::map<std::int32_t, ProcessFiler> processes;  // by device
  for (const sources::Reading& reading : batch.readings) {
    if (!is_of_device(reading)) continue;
    const std::int32_t number = reading.subject.device;
    Device& device = devices_[{source, number}];
    if (reading.subject.scope == sources::Scope::kDevice) {
      device.values.insert_or_assign(reading.metric, reading.value);
    } else {
      file(reading, processes.try_emplace(number, device).first->second[reading.subject.pid]);
    }
  }
  for (const std::int32_t number : told) {
    Device& device = devices_.at({source, number});
    device.source = batch.source;
    settle(device);
    drop_what_has_passed(device);
  }
}

void Board::forget(std::string_view source) {
  const std::size_t number = number_of_source(source);
  std::erase_if(devices_, [number](const auto& entry) { return entry.first.source == number; });
}

std::string Board::uuid_of(std::string_view source, std::int32_t number) const {
  const auto known = std::ranges::find(sources_, source);
  if (known == sources_.end()) return {};
  const auto found = devices_.find({static_cast<std::size_t>(known - sources_.begin()), number});
  return found == devices_.end() ? std::string() : text_of(found->second, MetricId::kGpuUuid);
}

std::vector<Device> Board::devices() const {
  std::vector<std::pair<std::size_t, Device>> sorted;
  for (const auto& [key, device] : devices_) sorted.emplace_back(key.source, device);
  std::ranges::stable_sort(sorted, {}, [](const auto& entry) {
    const Device& device = entry.second;
    return std::tuple(entry.first, number_of(device, MetricId::kGpuIndex).value_or(1e9),
                      device.is_mig);
  });
  std::vector<Device> devices;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto end = std::find_if(at, sorted.end(), [source = at->first](const auto& entry) {
      return entry.first != source;
    });
    std::vector<Device> group;  // of one source: only its own numbers can be compared
    for (; at != end; ++at) group.push_back(std::move(at->second));
    show_once(group);
    std::ranges::move(group, std::back_inserter(devices));
  }
  return devices;
}

}  // namespace pyrometer::readout
