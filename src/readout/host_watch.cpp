#include "readout/host_watch.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sources/nvml/processes.h"

namespace pyrometer::readout {

HostWatch::HostWatch(const Live& live, const std::string& root, std::chrono::nanoseconds period)
    : live_(live),
      same_namespace_(sources::nvml::in_host_pid_namespace(root)),
      period_(period),
      usages_(root),
      owners_(root, same_namespace_) {}

base::Result<void> HostWatch::start() {
  return background_.start([this] { work(); });
}

std::shared_ptr<const HostProcesses> HostWatch::processes() const {
  const std::lock_guard lock(mutex_);
  return processes_;
}

std::shared_ptr<const HostProcesses> HostWatch::look() {
  live_.look_after();
  const LiveView view = live_.view();
  std::vector<int> pids;
  for (const Device& device : view.snapshot->devices) {
    for (const Process& process : device.processes) {
      if (same_namespace_ || process.is_local) pids.push_back(process.pid);
    }
  }
  const std::set<int> on_gpus(pids.begin(), pids.end());
  auto next = std::make_shared<HostProcesses>();
  std::map<int, Named> named;
  for (auto& [pid, usage] : usages_.look(pids)) {
    HostProcess process{.usage = std::move(usage)};
    if (!on_gpus.contains(pid)) {
      const auto known = named_.find(pid);
      Named& now = named[pid];
      now = known != named_.end() && known->second.start_ticks == process.usage.start_ticks
                ? known->second
                : Named{process.usage.start_ticks, owners_.look_up(pid, false, {}, true)};
      process.owner = now.owner;
    }
    next->emplace(pid, std::move(process));
  }
  named_ = std::move(named);
  return next;
}

void HostWatch::work() {
  constexpr int kPartOfTime = 20;
  // The first snapshot comes soon; after that the processes have to be there at once.
  static_cast<void>(live_.wait_newer(0, std::chrono::seconds(1)));
  while (true) {
    const std::int64_t begin = sources::monotonic_ns();
    auto next = look();
    const std::chrono::nanoseconds took(sources::monotonic_ns() - begin);
    {
      const std::lock_guard lock(mutex_);
      processes_ = std::move(next);
    }
    if (background_.rest(std::max(period_, took * kPartOfTime))) return;
  }
}

}  // namespace pyrometer::readout
