#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sources/procfs/host_source.h"

namespace pyrometer::sources {
namespace {

constexpr double kSector = 512;  // bytes, whatever the disk's own sectors are
constexpr std::size_t kMostParts = 64;

bool is_whole_disk(const std::string& root, std::string_view name) {
  if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram")) return false;
  const std::string blocks = root + "/sys/block";
  // A slash in a disk's name is a ! in /sys.
  std::string entry(name);
  std::ranges::replace(entry, '/', '!');
  return access(blocks.c_str(), F_OK) != 0 || access((blocks + "/" + entry).c_str(), F_OK) == 0;
}

}  // namespace

void HostSource::sample_disks(Batch& batch) {
  auto text = files_.read("/proc/diskstats");
  const std::int64_t time = monotonic_ns();
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    static_cast<void>(take_word(line));  // major, minor
    static_cast<void>(take_word(line));
    const std::string_view name = take_word(line);
    std::array<std::uint64_t, 10> f{};
    for (auto& value : f) value = take_number(line).value_or(0);
    if (f[0] == 0 && f[4] == 0) continue;  // never used
    auto found = disks_.find(name);
    if (found == disks_.end()) {
      if (disks_.size() >= kMostParts || !is_whole_disk(files_.root(), name)) continue;
      found = disks_.emplace(std::string(name), Disk{}).first;
    }
    // reads, merged, sectors, ms · writes, merged, sectors, ms · in flight, ms busy
    Disk& disk = found->second;
    const Subject subject{.scope = Scope::kDisk, .part = found->first};
    batch.put(MetricId::kDiskReads, subject, time, disk.reads.update(f[0], time));
    batch.put(MetricId::kDiskRead, subject, time, disk.read.update(f[2], time, kSector));
    batch.put(MetricId::kDiskWrites, subject, time, disk.writes.update(f[4], time));
    batch.put(MetricId::kDiskWritten, subject, time, disk.written.update(f[6], time, kSector));
    // Counted in milliseconds and read at another instant: a little more than all is all.
    Value busy = disk.busy.update(f[9], time, 1e-3);
    if (busy.number() != nullptr) busy = Value::number(std::min(1.0, *busy.number()));
    batch.put(MetricId::kDiskBusy, subject, time, std::move(busy));
    const bool finished = disk.known && f[0] > disk.read_count && f[3] >= disk.read_ms;
    batch.put(MetricId::kDiskReadLatency, subject, time,
              finished ? Value::number(static_cast<double>(f[3] - disk.read_ms) * 1e6 /
                                       static_cast<double>(f[0] - disk.read_count))
                       : Value::missing(disk.known ? Absence::kNotApplicable : Absence::kNotYet));
    disk.read_count = f[0];
    disk.read_ms = f[3];
    disk.known = true;
  }
}

void HostSource::sample_networks(Batch& batch) {
  auto text = files_.read("/proc/net/dev");
  const std::int64_t time = monotonic_ns();
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of titles
    const std::string_view name = trim(line.substr(0, colon));
    // Loopback carries no traffic of the machine's; the other end of a veth pair is counted.
    if (name == "lo" || name.starts_with("veth")) continue;
    line.remove_prefix(colon + 1);
    std::array<std::uint64_t, 12> f{};
    for (auto& value : f) value = take_number(line).value_or(0);
    if (f[0] == 0 && f[8] == 0) continue;
    auto found = networks_.find(name);
    if (found == networks_.end()) {
      if (networks_.size() >= kMostParts) continue;
      found = networks_.emplace(std::string(name), Network{}).first;
    }
    // received: bytes, packets, errors, dropped, … (8 in all) · sent: the same
    Network& network = found->second;
    const Subject subject{.scope = Scope::kNetwork, .part = found->first};
    batch.put(MetricId::kNetReceived, subject, time, network.received.update(f[0], time));
    batch.put(MetricId::kNetSent, subject, time, network.sent.update(f[8], time));
    batch.put(MetricId::kNetErrors, subject, time,
              network.errors.update(f[2] + f[3] + f[10] + f[11], time));
  }
}

}  // namespace pyrometer::sources
