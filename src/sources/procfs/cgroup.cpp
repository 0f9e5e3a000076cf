#include "sources/procfs/cgroup.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sources/procfs/host_source.h"

namespace pyrometer::sources {
namespace {

const Subject kGroup{.scope = Scope::kCgroup};
// Version 1 writes "no limit" as the largest multiple of the page size.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

// The group's path below a mount whose root is itself a group (containers). A path outside of it
// leaves the mount point: the best that can be seen.
std::string below(std::string_view path, std::string_view mount_root) {
  if (path.starts_with("/..")) return {};
  if (mount_root != "/") {
    const bool inside = path.starts_with(mount_root) &&
                        (path.size() == mount_root.size() || path[mount_root.size()] == '/');
    if (!inside) return {};
    path.remove_prefix(mount_root.size());
  }
  return path == "/" ? std::string() : std::string(path);
}

std::string folder_of(const CgroupPlace& place) { return place.mount + place.path; }

// Calls visit(folder) for the group and each of its ancestors below the mount point.
template <typename Visit>
void for_each_ancestor(const CgroupPlace& place, const Visit& visit) {
  if (place.mount.empty()) return;
  std::string path = place.path;
  while (true) {
    visit(place.mount + path);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

CgroupReader::CgroupReader(std::string root, int pid)
    : files_(std::move(root)), who_(pid < 0 ? "/proc/self" : "/proc/" + std::to_string(pid)) {}

void CgroupReader::find_group() {
  version_ = 0;
  cpu_ = memory_ = cpuset_ = pids_ = cpuacct_ = {};
  auto text = files_.read(who_ + "/cgroup");
  // A process that has ended keeps the group that was found last; this one's tells more than none.
  if (!text) text = files_.read("/proc/self/cgroup");
  while (text && !text->empty()) {
    // "4:cpu,cpuacct:/path" or "0::/path"
    std::string_view line = take_line(*text);
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      if (version_ == 0) version_ = 2;
      // Where both versions are mounted, version 1 has the controllers that it names.
      for (CgroupPlace* place : {&cpu_, &memory_, &cpuset_, &pids_, &cpuacct_}) {
        if (place->path.empty()) place->path = path;
      }
      continue;
    }
    const std::pair<std::string_view, CgroupPlace*> places[] = {{"cpu", &cpu_},
                                                                {"memory", &memory_},
                                                                {"cpuset", &cpuset_},
                                                                {"pids", &pids_},
                                                                {"cpuacct", &cpuacct_}};
    for (const auto& [name, place] : places) {
      if (!has_word(controllers, name)) continue;
      place->path = path;
      if (name == "cpu" || name == "memory") version_ = 1;
    }
  }
}

void CgroupReader::find_mounts() {
  auto text = files_.read("/proc/self/mountinfo");
  const std::pair<std::string_view, CgroupPlace*> places[] = {{"cpu", &cpu_},
                                                              {"memory", &memory_},
                                                              {"cpuset", &cpuset_},
                                                              {"pids", &pids_},
                                                              {"cpuacct", &cpuacct_}};
  while (text && !text->empty()) {
    // "36 35 98:0 /root /mount/point options… - type source super,options"
    std::string_view line = take_line(*text);
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view tail = line.substr(dash + 3);
    const std::string_view type = take_word(tail);
    if (type != "cgroup" && type != "cgroup2") continue;
    static_cast<void>(take_word(tail));
    const std::string_view options = take_word(tail);
    for (int skipped = 0; skipped < 3; ++skipped) static_cast<void>(take_word(line));
    const std::string_view mount_root = take_word(line);
    const std::string_view mount_point = take_word(line);
    for (const auto& [name, place] : places) {
      const bool holds =
          version_ == 1 ? type == "cgroup" && has_word(options, name) : type == "cgroup2";
      if (!holds || !place->mount.empty()) continue;
      place->mount = mount_point;
      place->path = below(place->path, mount_root);
    }
  }
}

std::optional<std::uint64_t> CgroupReader::read_key(const std::string& path, std::string_view key) {
  auto text = files_.read(path);
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    if (take_word(line) == key) return take_number(line);
  }
  return std::nullopt;
}

std::optional<double> CgroupReader::quota_at(const std::string& folder) {
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  if (version_ == 1) {
    quota = files_.read_number(folder + "/cpu.cfs_quota_us");  // -1: none, which is no number
    period = files_.read_number(folder + "/cpu.cfs_period_us");
  } else if (auto text = files_.read(folder + "/cpu.max")) {
    std::string_view line = trim(*text);  // "max 100000" or "400000 100000"
    quota = take_number(line);
    period = take_number(line);
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::uint64_t> CgroupReader::memory_at(const std::string& folder,
                                                     std::string_view file) {
  const auto bytes = files_.read_number(folder + std::string(file));
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

void CgroupReader::put_cpu_limits(Batch& batch) {
  std::optional<double> quota;
  quota_folder_ = folder_of(cpu_);
  for_each_ancestor(cpu_, [&](const std::string& folder) {
    const auto here = quota_at(folder);
    if (!here || (quota && *quota <= *here)) return;
    quota = here;
    quota_folder_ = folder;
  });
  const std::int64_t time = monotonic_ns();
  batch.put(
      MetricId::kCgroupCpuQuota, kGroup, time,
      quota ? Value::number(*quota) : Value::missing(Absence::kNotApplicable, "no quota is set"));
  std::optional<std::uint64_t> cpus;
  for_each_ancestor(cpuset_, [&](const std::string& folder) {
    if (cpus) return;
    const auto list =
        files_.read(folder + (version_ == 1 ? "/cpuset.effective_cpus" : "/cpuset.cpus.effective"));
    if (list && !trim(*list).empty()) cpus = count_list(*list);
  });
  batch.put(MetricId::kCgroupCpusetCpus, kGroup, time,
            number_or(cpus, Absence::kNotSupported, "there is no cpuset"));
}

void CgroupReader::put_memory_limits(Batch& batch) {
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> high;
  std::optional<std::uint64_t> pids;
  const auto tighten = [](std::optional<std::uint64_t>& least, std::optional<std::uint64_t> here) {
    if (here && (!least || *here < *least)) least = here;
  };
  for_each_ancestor(memory_, [&](const std::string& folder) {
    tighten(limit, memory_at(folder, version_ == 1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (version_ == 2) tighten(high, memory_at(folder, "/memory.high"));
  });
  for_each_ancestor(pids_, [&](const std::string& folder) {
    tighten(pids, files_.read_number(folder + "/pids.max"));
  });
  const std::int64_t time = monotonic_ns();
  constexpr std::string_view kUnset = "no limit is set";
  batch.put(MetricId::kCgroupMemoryLimit, kGroup, time,
            number_or(limit, Absence::kNotApplicable, kUnset));
  batch.put(MetricId::kCgroupMemoryHigh, kGroup, time,
            number_or(high, Absence::kNotApplicable, kUnset));
  batch.put(MetricId::kCgroupPidsLimit, kGroup, time,
            number_or(pids, Absence::kNotApplicable, kUnset));
}

void CgroupReader::sample_limits(Batch& batch) {
  find_group();
  const std::string path = cpu_.path;
  if (version_ != 0) find_mounts();
  if (version_ == 0 || cpu_.mount.empty()) {
    version_ = 0;
    batch.put(MetricId::kCgroupVersion, kGroup, monotonic_ns(),
              Value::missing(Absence::kNotSupported, "no control groups are mounted here"));
    return;
  }
  batch.put(MetricId::kCgroupVersion, kGroup, monotonic_ns(), Value::number(version_));
  batch.put(MetricId::kCgroupPath, kGroup, monotonic_ns(), Value::text(path));
  put_cpu_limits(batch);
  put_memory_limits(batch);
}

void CgroupReader::put_cpu_usage(Batch& batch) {
  const auto put = [&](MetricId metric, std::optional<std::uint64_t> count, double scale) {
    if (!count) return;  // the root group has no such file; the limits have said what there is
    batch.put(metric, kGroup, monotonic_ns(), Value::number(static_cast<double>(*count) * scale));
  };
  const std::string stat = quota_folder_ + "/cpu.stat";
  put(MetricId::kCgroupCpuPeriods, read_key(stat, "nr_periods"), 1);
  put(MetricId::kCgroupCpuThrottledPeriods, read_key(stat, "nr_throttled"), 1);
  if (version_ == 1) {
    put(MetricId::kCgroupCpuThrottled, read_key(stat, "throttled_time"), 1);
    put(MetricId::kCgroupCpuUsed, files_.read_number(folder_of(cpuacct_) + "/cpuacct.usage"), 1);
    return;
  }
  put(MetricId::kCgroupCpuThrottled, read_key(stat, "throttled_usec"), 1e3);
  put(MetricId::kCgroupCpuUsed, read_key(folder_of(cpu_) + "/cpu.stat", "usage_usec"), 1e3);
}

void CgroupReader::put_memory_usage(Batch& batch) {
  const auto put = [&](MetricId metric, std::optional<std::uint64_t> count) {
    if (!count) return;
    batch.put(metric, kGroup, monotonic_ns(), Value::number(static_cast<double>(*count)));
  };
  const std::string folder = folder_of(memory_);
  if (version_ == 1) {
    put(MetricId::kCgroupMemoryUsed, files_.read_number(folder + "/memory.usage_in_bytes"));
    put(MetricId::kCgroupMemoryMaxEvents, files_.read_number(folder + "/memory.failcnt"));
    put(MetricId::kCgroupOomKills, read_key(folder + "/memory.oom_control", "oom_kill"));
    return;
  }
  put(MetricId::kCgroupMemoryUsed, files_.read_number(folder + "/memory.current"));
  const std::string events = folder + "/memory.events";
  put(MetricId::kCgroupMemoryHighEvents, read_key(events, "high"));
  put(MetricId::kCgroupMemoryMaxEvents, read_key(events, "max"));
  put(MetricId::kCgroupOomKills, read_key(events, "oom_kill"));
}

void CgroupReader::sample_usage(Batch& batch) {
  if (version_ == 0) return;
  put_cpu_usage(batch);
  put_memory_usage(batch);
  if (version_ == 1) return;  // pressure is kept for groups of version 2 only
  const std::string folder = folder_of(cpu_);
  put_pressure(files_, folder + "/cpu.pressure",
               {MetricId::kCgroupPressureCpuSome, MetricId::kCgroupPressureCpuSome, false}, kGroup,
               batch);
  put_pressure(files_, folder + "/io.pressure",
               {MetricId::kCgroupPressureIoSome, MetricId::kCgroupPressureIoSome, false}, kGroup,
               batch);
  put_pressure(files_, folder + "/memory.pressure",
               {MetricId::kCgroupPressureMemorySome, MetricId::kCgroupPressureMemorySome, false},
               kGroup, batch);
}

}  // namespace pyrometer::sources
