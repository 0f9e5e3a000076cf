#include "sources/procfs/host_source.h"

#include <utility>

namespace pyrometer::sources {
namespace {
constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
}  // namespace

HostSource::HostSource(std::string root, int pid) : files_(root), cgroup_(std::move(root), pid) {}

std::span<const Group> HostSource::groups() const { return kGroups; }

base::Result<void> HostSource::start() {
  if (files_.read("/proc/stat")) return {};
  return base::fail({.kind = base::ErrorKind::kNotFound,
                     .message = "there is no /proc/stat",
                     .file = files_.root() + "/proc/stat",
                     .advice = "Mount /proc"});
}

base::Result<void> HostSource::sample(std::size_t group, Batch& batch) {
  if (group == kOnceGroup) {
    sample_once(batch);
    cgroup_.sample_limits(batch);
    return {};
  }
  if (group == kSlowGroup) {
    sample_shm(batch);
    sample_numa(batch);
    // Limits can be changed while a job runs.
    cgroup_.sample_limits(batch);
    return {};
  }
  if (auto sampled = sample_cpu(batch); !sampled) return sampled;
  sample_load(batch);
  sample_pressure(batch);
  sample_memory(batch);
  sample_vm(batch);
  sample_disks(batch);
  sample_networks(batch);
  cgroup_.sample_usage(batch);
  return {};
}

}  // namespace pyrometer::sources
