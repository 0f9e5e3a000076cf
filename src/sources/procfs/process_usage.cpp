#include "sources/procfs/process_usage.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sources/procfs/proc_stat.h"
#include "sources/source.h"

namespace pyrometer::sources {
namespace {

constexpr int kMostAncestors = 64;  // a chain that /proc tells while it changes may be a circle
constexpr double kNsPerSecond = 1e9;

double ticks_per_second() {
  static const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ticks > 0 ? ticks : 100;
}

// Seconds since boot; 0 where they are not told.
double read_uptime(ProcReader& files) {
  auto text = files.read("/proc/uptime");
  if (!text) return 0;
  return std::strtod(std::string(take_word(*text)).c_str(), nullptr);
}

}  // namespace

ProcessUsages::ProcessUsages(const std::string& root) : files_(root) {}

bool ProcessUsages::read_one(int pid, double uptime, std::map<int, ProcessUsage>& found,
                             std::map<int, Before>& now) {
  const auto text = files_.read("/proc/" + std::to_string(pid) + "/stat");
  const std::int64_t time = monotonic_ns();
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  if (!stat) return false;
  ProcessUsage usage{
      .parent = stat->parent, .start_ticks = stat->start, .has_ended = stat->has_ended()};
  static const auto kPageBytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  usage.resident = Value::number(static_cast<double>(stat->resident_pages) * kPageBytes);
  const double age = uptime - static_cast<double>(stat->start) / ticks_per_second();
  if (uptime > 0) usage.running = Value::number(std::max(0.0, age));
  const std::uint64_t ticks = stat->user + stat->system;
  const auto last = before_.find(pid);
  if (last != before_.end() && last->second.start_ticks == stat->start &&
      time > last->second.time_ns && ticks >= last->second.cpu_ticks) {
    const double seconds = static_cast<double>(time - last->second.time_ns) / kNsPerSecond;
    usage.cpu = Value::number(static_cast<double>(ticks - last->second.cpu_ticks) /
                              ticks_per_second() / seconds);
  }
  now[pid] = {.start_ticks = stat->start, .cpu_ticks = ticks, .time_ns = time};
  found.emplace(pid, std::move(usage));
  return true;
}

std::map<int, ProcessUsage> ProcessUsages::look(std::span<const int> pids) {
  std::map<int, ProcessUsage> found;
  std::map<int, Before> now;
  const double uptime = read_uptime(files_);
  for (int pid : pids) {
    for (int i = 0; i < kMostAncestors && pid > 0 && !found.contains(pid); ++i) {
      if (!read_one(pid, uptime, found, now)) break;
      pid = found.at(pid).parent;
    }
  }
  before_ = std::move(now);
  return found;
}

std::uint64_t start_ticks_of(int pid) {
  ProcReader files("");
  const auto text = files.read("/proc/" + std::to_string(pid) + "/stat");
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  return stat ? stat->start : 0;
}

}  // namespace pyrometer::sources
