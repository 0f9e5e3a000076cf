// Readings of the machine: CPUs, memory, disks, networks, and the limits that hold here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sources/procfs/cgroup.h"
#include "sources/procfs/proc_reader.h"
#include "sources/rate.h"
#include "sources/source.h"

namespace pyrometer::sources {

// Time of one CPU, or of all, in clock ticks.
struct CpuTimes {
  std::uint64_t user = 0;
  std::uint64_t system = 0;  // interrupts included
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;
  std::uint64_t steal = 0;
};

class HostSource final : public Source {
 public:
  // `pid`: the process whose control group is read; -1: this one's.
  HostSource(std::string root, int pid);

  [[nodiscard]] std::string_view name() const override { return "host"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override {}

 private:
  struct Disk {
    Rate read, written, reads, writes, busy;
    std::uint64_t read_count = 0, read_ms = 0;
    bool known = false;
  };
  struct Network {
    Rate received, sent, errors;
  };

  // host_cpu.cpp
  [[nodiscard]] base::Result<void> sample_cpu(Batch& batch);
  void put_cpu(std::size_t slot, const Subject& subject, const CpuTimes& now, std::int64_t time,
               Batch& batch);
  void sample_load(Batch& batch);
  void sample_pressure(Batch& batch);
  void sample_once(Batch& batch);
  // host_memory.cpp
  void sample_memory(Batch& batch);
  void sample_vm(Batch& batch);
  void sample_shm(Batch& batch);
  void sample_numa(Batch& batch);
  // host_io.cpp
  void sample_disks(Batch& batch);
  void sample_networks(Batch& batch);

  ProcReader files_;
  CgroupReader cgroup_;
  std::vector<CpuTimes> last_cpu_;  // [0]: all CPUs, then by number of the CPU plus one
  std::vector<bool> cpu_known_;
  Rate switches_, forks_, faults_, major_, swap_in_, swap_out_;
  std::map<std::string, Disk, std::less<>> disks_;
  std::map<std::string, Network, std::less<>> networks_;
};

// One file of pressure stall information (PSI) as counters in nanoseconds. `full` may be absent.
struct PressureMetrics {
  MetricId some;
  MetricId full;
  bool has_full;
};
void put_pressure(ProcReader& files, std::string_view path, const PressureMetrics& metrics,
                  const Subject& subject, Batch& batch);

}  // namespace pyrometer::sources
