#include "sources/procfs/rapl_source.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace pyrometer::sources {
namespace {

constexpr std::string_view kFolder = "/sys/class/powercap";
// Often enough for the interval of a run's first step; a meter of 262 kJ wraps after 4 minutes at
// 1 kW.
constexpr Group kGroups[] = {{"fast", kFast}};

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open.get())) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view trim_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

RaplSource::RaplSource(std::string root) : files_(std::move(root)) {}

std::span<const Group> RaplSource::groups() const { return kGroups; }

// Zones are "intel-rapl:0" (a package) and "intel-rapl:0:1" (a part of it); "intel-rapl-mmio:0" is
// the same meter once more. Their files "name" say what they measure.
base::Result<void> RaplSource::start() {
  zones_ = {{MetricId::kHostEnergyCpu, {}}, {MetricId::kHostEnergyMemory, {}}};
  for (const std::string& entry : entries_of(files_.root() + std::string(kFolder))) {
    if (!entry.starts_with("intel-rapl:")) continue;
    Zone zone{.folder = std::string(kFolder) + "/" + entry};
    const auto name = files_.read(zone.folder + "/name");
    if (!name) continue;
    const bool package = trim_end(*name).starts_with("package-");
    if (!package && trim_end(*name) != "dram") continue;  // cores and GPU are part of the package
    zone.range = files_.read_number(zone.folder + "/max_energy_range_uj").value_or(0);
    zones_[package ? 0 : 1].zones.push_back(std::move(zone));
  }
  return {};
}

base::Result<void> RaplSource::sample(std::size_t, Batch& batch) {
  const std::int64_t time = monotonic_ns();
  for (Zones& zones : zones_) put_sum(zones, time, batch);
  return {};
}

void RaplSource::put_sum(Zones& zones, std::int64_t time, Batch& batch) {
  constexpr double kMicro = 1e-6;
  const Subject host{.scope = Scope::kHost};
  double sum = 0;
  std::optional<Gap> gap;
  if (zones.zones.empty()) gap = Gap{Absence::kNotSupported, "the kernel shows no such meter"};
  for (Zone& zone : zones.zones) {
    const auto now = files_.read_number(zone.folder + "/energy_uj");
    if (!now) {
      gap = files_.gap();  // what it counts meanwhile is in the next reading
      continue;
    }
    if (zone.last) {
      const bool wrapped = *now < *zone.last;
      if (!wrapped) zone.joules += static_cast<double>(*now - *zone.last) * kMicro;
      if (wrapped && zone.range > *zone.last) {
        zone.joules += static_cast<double>(zone.range - *zone.last + *now) * kMicro;
      }
    }
    zone.last = now;
    sum += zone.joules;
  }
  if (gap && gap->absence == Absence::kNoPermission) {
    gap->text = "RAPL meters can be read by root alone";
  }
  batch.put(zones.metric, host, time,
            gap ? Value::missing(gap->absence, gap->text) : Value::number(sum));
}

}  // namespace pyrometer::sources
