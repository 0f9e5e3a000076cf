#include "readout/collector.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "sources/nvml/processes.h"

namespace pyrometer::readout {
namespace {

enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
// Hardware counters refuse two samples that are less than 100 ms apart.
constexpr auto kBetweenSamples = std::chrono::milliseconds(110);

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

Device& device_of(std::vector<std::pair<std::int32_t, Device>>& devices, std::int32_t number) {
  const auto found =
      std::ranges::find(devices, number, [](const auto& entry) { return entry.first; });
  if (found != devices.end()) return found->second;
  return devices.emplace_back(number, Device{}).second;
}

Process& process_of(Device& device, std::int32_t pid) {
  const auto found = std::ranges::find(device.processes, pid, &Process::pid);
  if (found != device.processes.end()) return *found;
  device.processes.push_back({.pid = pid});
  return device.processes.back();
}

void file(const sources::Reading& reading, Device& device) {
  if (reading.subject.scope == sources::Scope::kDevice) {
    device.values.insert_or_assign(reading.metric, reading.value);
    return;
  }
  if (reading.subject.scope != sources::Scope::kDeviceProcess) return;
  Process& process = process_of(device, reading.subject.pid);
  if (reading.metric == MetricId::kGpuProcessMemory) process.memory = reading.value;
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
  if (number_of(device, MetricId::kGpuLost).value_or(0) > 0) {
    device.state = DeviceState::kLost;
  } else if (number_of(device, MetricId::kGpuAsleep).value_or(0) > 0) {
    device.state = DeviceState::kAsleep;
  }
  std::ranges::sort(device.processes, {}, &Process::pid);
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

}  // namespace

Collector::Collector(CollectorOptions options)
    : options_(std::move(options)),
      source_({.root = options_.root,
               .devices = options_.gpus,
               .open = options_.open,
               .brief = options_.depth == Depth::kBrief,
               .may_block = false,
               .identify_always = true}),
      owners_(options_.root, sources::nvml::in_host_pid_namespace(options_.root)),
      host_(host_name()) {}

base::Result<void> Collector::sample(sources::Batch& batch) {
  const bool is_first = !is_started_;
  if (is_first) {
    if (auto started = source_.start(); !started) return started;
    is_started_ = true;
  }
  for (const std::size_t group : {kFastGroup, kSlowGroup, kOnceGroup}) {
    // What a device is comes along with its first sample.
    const auto tells = [](const auto& reading) { return reading.metric == MetricId::kGpuIndex; };
    if (group == kOnceGroup && is_first && std::ranges::any_of(batch.readings, tells)) continue;
    if (auto sampled = source_.sample(group, batch); !sampled) return sampled;
  }
  if (!is_first || options_.depth != Depth::kTwice) return {};
  std::this_thread::sleep_for(kBetweenSamples);
  for (const std::size_t group : {kFastGroup, kSlowGroup}) {
    if (auto sampled = source_.sample(group, batch); !sampled) return sampled;
  }
  return {};
}

Snapshot Collector::look() {
  Snapshot snapshot;
  snapshot.host = host_;
  sources::Batch batch;
  const auto sampled = sample(batch);
  snapshot.unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  if (!sampled) {
    source_.stop();
    is_started_ = false;
    snapshot.problem = sampled.error();
    return snapshot;
  }
  fill(batch, snapshot);
  return snapshot;
}

void Collector::fill(const sources::Batch& batch, Snapshot& snapshot) {
  std::vector<std::pair<std::int32_t, Device>> devices;
  for (const sources::Reading& reading : batch.readings) {
    if (reading.subject.device < 0) continue;
    file(reading, device_of(devices, reading.subject.device));
  }
  for (auto& [number, device] : devices) {
    settle(device);
    snapshot.devices.push_back(std::move(device));
  }
  std::ranges::stable_sort(snapshot.devices, {}, [](const Device& device) {
    return std::pair(number_of(device, MetricId::kGpuIndex).value_or(1e9), device.is_mig);
  });
  show_once(snapshot.devices);
  for (Device& device : snapshot.devices) {
    if (!options_.with_processes) device.processes.clear();
    for (Process& process : device.processes) {
      process.owner = owners_.look_up(process.pid, options_.with_arguments);
    }
  }
}

}  // namespace pyrometer::readout
