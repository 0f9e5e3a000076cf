// What the processes on the GPUs use of the host, kept fresh in the background.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/background.h"
#include "readout/live.h"
#include "sources/procfs/process_owner.h"
#include "sources/procfs/process_usage.h"

namespace pyrometer::readout {

struct HostProcess {
  sources::ProcessUsage usage;
  sources::ProcessOwner owner;  // of those that started processes on the GPUs; else empty
};

// By process id: the processes on GPUs and what started them.
using HostProcesses = std::map<int, HostProcess>;

class HostWatch {
 public:
  // `live` outlives this object. `period`: between two looks; longer where there are so many
  // processes that looking at them would take more than a twentieth of a CPU.
  HostWatch(const Live& live, const std::string& root, std::chrono::nanoseconds period);
  HostWatch(const HostWatch&) = delete;
  HostWatch& operator=(const HostWatch&) = delete;

  // Errors: kResource. Call once.
  [[nodiscard]] base::Result<void> start();
  // Never null, never waits. Any thread.
  [[nodiscard]] std::shared_ptr<const HostProcesses> processes() const;
  // Whether /proc shows the processes that NVIDIA's driver tells of.
  [[nodiscard]] bool same_namespace() const { return same_namespace_; }

 private:
  void work();
  [[nodiscard]] std::shared_ptr<const HostProcesses> look();

  const Live& live_;
  bool same_namespace_;
  std::chrono::nanoseconds period_;
  // Of the thread alone.
  sources::ProcessUsages usages_;
  sources::ProcessOwners owners_;
  struct Named {
    std::uint64_t start_ticks = 0;
    sources::ProcessOwner owner;
  };
  std::map<int, Named> named_;

  mutable std::mutex mutex_;
  std::shared_ptr<const HostProcesses> processes_ = std::make_shared<HostProcesses>();
  base::Background background_;  // last: it must end before the rest goes
};

}  // namespace pyrometer::readout
