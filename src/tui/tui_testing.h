// A made-up sight for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tui/screen.h"

namespace pyrometer::tui {

inline readout::Device test_device(int index) {
  using readout::Value;
  readout::Device device;
  const auto put = [&](MetricId metric, double value) {
    device.values.insert_or_assign(metric, Value::number(value));
  };
  put(MetricId::kGpuIndex, index);
  put(MetricId::kGpuSmActive, 0.5 + index * 0.01);
  put(MetricId::kGpuTensorActive, 0.25);
  put(MetricId::kGpuMemoryUsed, 60.0 * (1 << 30));
  put(MetricId::kGpuMemoryTotal, 140.0 * (1 << 30));
  put(MetricId::kGpuPower, 600);
  put(MetricId::kGpuPowerLimit, 700);
  put(MetricId::kGpuTemperature, 61);
  put(MetricId::kGpuThrottleMask, 0);
  device.values.insert_or_assign(MetricId::kGpuName, Value::text("NVIDIA H200"));
  device.values.insert_or_assign(MetricId::kGpuUuid, Value::text("GPU-" + std::to_string(index)));
  return device;
}

inline readout::Process test_process(int pid, const std::string& user, const std::string& program,
                                     double bytes) {
  using readout::Value;
  readout::Process process{.pid = pid};
  process.memory = Value::number(bytes);
  process.owner.user = Value::text(user);
  process.owner.program = Value::text(program);
  return process;
}

struct TestSight {
  std::shared_ptr<readout::Snapshot> snapshot = std::make_shared<readout::Snapshot>();
  std::shared_ptr<readout::HostProcesses> host = std::make_shared<readout::HostProcesses>();
  std::shared_ptr<readout::Trainings> trainings = std::make_shared<readout::Trainings>();
  Sight sight;

  explicit TestSight(int gpus) {
    snapshot->host = "node1";
    snapshot->unix_ms = 1'796'000'000'000;
    for (int i = 0; i < gpus; ++i) snapshot->devices.push_back(test_device(i));
    sight.live.snapshot = snapshot;
    sight.live.number = 1;
    sight.host = host;
    sight.trainings = trainings;
    sight.now_ns = 1'000'000'000'000;
    sight.live.sources.push_back({.name = "nvml",
                                  .state = sources::SourceState::kRunning,
                                  .last_good_ns = sight.now_ns - 1'000'000});
  }
  void start(int pid, int parent) {
    readout::HostProcess process;
    process.usage.parent = parent;
    process.owner.program = readout::Value::text("p" + std::to_string(pid));
    host->insert_or_assign(pid, process);
  }
};

}  // namespace pyrometer::tui
