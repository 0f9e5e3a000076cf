#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "sources/procfs/host_source.h"

namespace pyrometer::sources {
namespace {

const Subject kHost{.scope = Scope::kHost};
constexpr std::uint64_t kMostNodes = 256;

struct MemoryLine {
  std::string_view key;
  MetricId metric;
};
constexpr MemoryLine kMemoryLines[] = {
    {"MemTotal:", MetricId::kHostMemoryTotal}, {"MemAvailable:", MetricId::kHostMemoryAvailable},
    {"Shmem:", MetricId::kHostMemoryShared},   {"Dirty:", MetricId::kHostMemoryDirty},
    {"SwapTotal:", MetricId::kHostSwapTotal},  {"SwapFree:", MetricId::kHostSwapFree},
};

// "123 kB".
std::optional<double> take_bytes(std::string_view& line) {
  const auto kibibytes = take_number(line);
  if (!kibibytes) return std::nullopt;
  return static_cast<double>(*kibibytes) * 1024;
}

}  // namespace

void HostSource::sample_memory(Batch& batch) {
  auto text = files_.read("/proc/meminfo");
  const std::int64_t time = monotonic_ns();
  std::optional<double> cached;
  std::optional<double> shared;
  std::array<bool, std::size(kMemoryLines)> seen{};
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    const std::string_view key = take_word(line);
    if (key == "Cached:") cached = take_bytes(line);
    for (std::size_t i = 0; i < std::size(kMemoryLines); ++i) {
      if (key != kMemoryLines[i].key) continue;
      const auto bytes = take_bytes(line);
      if (!bytes) break;
      seen[i] = true;
      if (key == "Shmem:") shared = bytes;
      batch.put(kMemoryLines[i].metric, kHost, time, Value::number(*bytes));
      break;
    }
  }
  const Gap gap = text ? Gap{Absence::kNotSupported, {}} : files_.gap();
  for (std::size_t i = 0; i < std::size(kMemoryLines); ++i) {
    if (seen[i]) continue;
    batch.put(kMemoryLines[i].metric, kHost, time, Value::missing(gap.absence, gap.text));
  }
  // The kernel counts shared memory as cached; it cannot be dropped like a cache.
  batch.put(MetricId::kHostMemoryCached, kHost, time,
            cached && shared ? Value::number(std::max(0.0, *cached - *shared))
                             : Value::missing(gap.absence, gap.text));
}

void HostSource::sample_vm(Batch& batch) {
  auto text = files_.read("/proc/vmstat");
  const std::int64_t time = monotonic_ns();
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    const std::string_view key = take_word(line);
    // Most lines are of no interest; two letters decide that.
    if (!key.starts_with("pg") && !key.starts_with("ps") && key != "oom_kill") continue;
    const auto count = take_number(line);
    if (!count) continue;
    if (key == "pgfault") {
      batch.put(MetricId::kHostPageFaults, kHost, time, faults_.update(*count, time));
    } else if (key == "pgmajfault") {
      batch.put(MetricId::kHostMajorFaults, kHost, time, major_.update(*count, time));
    } else if (key == "pswpin") {
      batch.put(MetricId::kHostSwapIn, kHost, time, swap_in_.update(*count, time, page));
    } else if (key == "pswpout") {
      batch.put(MetricId::kHostSwapOut, kHost, time, swap_out_.update(*count, time, page));
    } else if (key == "oom_kill") {
      batch.put(MetricId::kHostOomKills, kHost, time, Value::number(static_cast<double>(*count)));
    }
  }
}

void HostSource::sample_shm(Batch& batch) {
  struct statvfs space {};
  const bool known = statvfs((files_.root() + "/dev/shm").c_str(), &space) == 0;
  const std::int64_t time = monotonic_ns();
  const auto bytes = [&](std::uint64_t blocks) {
    return known ? Value::number(static_cast<double>(blocks) * static_cast<double>(space.f_frsize))
                 : Value::missing(Absence::kNotSupported, "there is no /dev/shm");
  };
  batch.put(MetricId::kHostShmTotal, kHost, time, bytes(space.f_blocks));
  batch.put(MetricId::kHostShmUsed, kHost, time, bytes(space.f_blocks - space.f_bfree));
}

void HostSource::sample_numa(Batch& batch) {
  for (std::uint64_t node = 0; node < kMostNodes; ++node) {
    const std::string number = std::to_string(node);
    auto text = files_.read("/sys/devices/system/node/node" + number + "/meminfo");
    // Numbers are dense but for nodes that were taken off line.
    if (!text) {
      if (node > 0) break;
      continue;
    }
    const std::int64_t time = monotonic_ns();
    const Subject subject{.scope = Scope::kNuma, .part = number};
    while (!text->empty()) {
      // "Node 0 MemTotal:  123 kB"
      std::string_view line = take_line(*text);
      static_cast<void>(take_word(line));
      static_cast<void>(take_word(line));
      const std::string_view key = take_word(line);
      if (key != "MemTotal:" && key != "MemFree:") continue;
      if (const auto bytes = take_bytes(line)) {
        batch.put(key == "MemFree:" ? MetricId::kNumaMemoryFree : MetricId::kNumaMemoryTotal,
                  subject, time, Value::number(*bytes));
      }
    }
  }
}

}  // namespace pyrometer::sources
