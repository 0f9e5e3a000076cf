#include "readout/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "readout/time_text.h"

namespace pyrometer::readout {
namespace {

constexpr double kPercent = 100;
constexpr double kPerMib = 1.0 / (1 << 20);

// Names, headers and units are those of `nvidia-smi --help-query-gpu`, old names included.
constexpr Field kSmiFields[] = {
    {"timestamp", "timestamp", "", MetricId::kGpuIndex, 1, 0, Form::kTime},
    {"driver_version", "driver_version", "", MetricId::kGpuDriverVersion},
    {"count", "count", "", MetricId::kGpuIndex, 1, 0, Form::kCount},
    {"index", "index", "", MetricId::kGpuIndex},
    {"name", "name", "", MetricId::kGpuName},
    {"gpu_name", "name", "", MetricId::kGpuName},
    {"uuid", "uuid", "", MetricId::kGpuUuid},
    {"gpu_uuid", "uuid", "", MetricId::kGpuUuid},
    {"pci.bus_id", "pci.bus_id", "", MetricId::kGpuPciId, 1, 0, Form::kPciId},
    {"gpu_bus_id", "pci.bus_id", "", MetricId::kGpuPciId, 1, 0, Form::kPciId},
    {"compute_cap", "compute_cap", "", MetricId::kGpuComputeCapability},
    {"compute_mode", "compute_mode", "", MetricId::kGpuComputeMode, 1, 0, Form::kCompute},
    {"persistence_mode", "persistence_mode", "", MetricId::kGpuPersistence, 1, 0, Form::kEnabled},
    {"mig.mode.current", "mig.mode.current", "", MetricId::kGpuMigEnabled, 1, 0, Form::kEnabled},
    {"ecc.mode.current", "ecc.mode.current", "", MetricId::kGpuEccEnabled, 1, 0, Form::kEnabled},
    {"pstate", "pstate", "", MetricId::kGpuPstate, 1, 0, Form::kPstate},
    {"fan.speed", "fan.speed", "%", MetricId::kGpuFan, kPercent},
    {"utilization.gpu", "utilization.gpu", "%", MetricId::kGpuUtil, kPercent},
    {"utilization.memory", "utilization.memory", "%", MetricId::kGpuUtilMemory, kPercent},
    {"utilization.encoder", "utilization.encoder", "%", MetricId::kGpuUtilEncoder, kPercent},
    {"utilization.decoder", "utilization.decoder", "%", MetricId::kGpuUtilDecoder, kPercent},
    {"memory.total", "memory.total", "MiB", MetricId::kGpuMemoryTotal, kPerMib},
    {"memory.reserved", "memory.reserved", "MiB", MetricId::kGpuMemoryReserved, kPerMib},
    {"memory.used", "memory.used", "MiB", MetricId::kGpuMemoryUsed, kPerMib},
    {"memory.free", "memory.free", "MiB", MetricId::kGpuMemoryFree, kPerMib},
    {"temperature.gpu", "temperature.gpu", "", MetricId::kGpuTemperature},
    {"temperature.memory", "temperature.memory", "", MetricId::kGpuTemperatureMemory},
    {"power.draw", "power.draw", "W", MetricId::kGpuPower, 1, 2},
    {"power.draw.instant", "power.draw.instant", "W", MetricId::kGpuPower, 1, 2},
    {"power.draw.average", "power.draw.average", "W", MetricId::kGpuPowerAverage, 1, 2},
    {"power.limit", "power.limit", "W", MetricId::kGpuPowerLimit, 1, 2},
    {"enforced.power.limit", "enforced.power.limit", "W", MetricId::kGpuPowerLimit, 1, 2},
    {"power.default_limit", "power.default_limit", "W", MetricId::kGpuPowerLimitDefault, 1, 2},
    {"power.max_limit", "power.max_limit", "W", MetricId::kGpuPowerLimitMax, 1, 2},
    {"clocks.sm", "clocks.current.sm", "MHz", MetricId::kGpuClockSm},
    {"clocks.current.sm", "clocks.current.sm", "MHz", MetricId::kGpuClockSm},
    {"clocks.mem", "clocks.current.memory", "MHz", MetricId::kGpuClockMemory},
    {"clocks.current.memory", "clocks.current.memory", "MHz", MetricId::kGpuClockMemory},
    {"clocks.video", "clocks.current.video", "MHz", MetricId::kGpuClockVideo},
    {"clocks.current.video", "clocks.current.video", "MHz", MetricId::kGpuClockVideo},
    {"clocks.max.sm", "clocks.max.sm", "MHz", MetricId::kGpuClockSmMax},
    {"clocks.max.mem", "clocks.max.memory", "MHz", MetricId::kGpuClockMemoryMax},
    {"clocks.max.memory", "clocks.max.memory", "MHz", MetricId::kGpuClockMemoryMax},
    {"pcie.link.gen.current", "pcie.link.gen.current", "", MetricId::kGpuPcieGeneration},
    {"pcie.link.gen.max", "pcie.link.gen.max", "", MetricId::kGpuPcieGenerationMax},
    {"pcie.link.width.current", "pcie.link.width.current", "", MetricId::kGpuPcieWidth},
    {"pcie.link.width.max", "pcie.link.width.max", "", MetricId::kGpuPcieWidthMax},
    {"clocks_event_reasons.active", "clocks_event_reasons.active", "", MetricId::kGpuThrottleMask,
     1, 0, Form::kMask},
    {"clocks_event_reasons.gpu_idle", "clocks_event_reasons.gpu_idle", "",
     MetricId::kGpuThrottleIdle, 1, 0, Form::kActive},
    {"clocks_event_reasons.applications_clocks_setting",
     "clocks_event_reasons.applications_clocks_setting", "", MetricId::kGpuThrottleAppClocks, 1, 0,
     Form::kActive},
    {"clocks_event_reasons.sw_power_cap", "clocks_event_reasons.sw_power_cap", "",
     MetricId::kGpuThrottlePowerCap, 1, 0, Form::kActive},
    {"clocks_event_reasons.hw_slowdown", "clocks_event_reasons.hw_slowdown", "",
     MetricId::kGpuThrottleHwSlowdown, 1, 0, Form::kActive},
    {"clocks_event_reasons.hw_thermal_slowdown", "clocks_event_reasons.hw_thermal_slowdown", "",
     MetricId::kGpuThrottleHwThermal, 1, 0, Form::kActive},
    {"clocks_event_reasons.hw_power_brake_slowdown", "clocks_event_reasons.hw_power_brake_slowdown",
     "", MetricId::kGpuThrottlePowerBrake, 1, 0, Form::kActive},
    {"clocks_event_reasons.sw_thermal_slowdown", "clocks_event_reasons.sw_thermal_slowdown", "",
     MetricId::kGpuThrottleThermal, 1, 0, Form::kActive},
    {"clocks_event_reasons.sync_boost", "clocks_event_reasons.sync_boost", "",
     MetricId::kGpuThrottleSyncBoost, 1, 0, Form::kActive},
    {"ecc.errors.corrected.volatile.total", "ecc.errors.corrected.volatile.total", "",
     MetricId::kGpuEccVolatileCorrected},
    {"ecc.errors.uncorrected.volatile.total", "ecc.errors.uncorrected.volatile.total", "",
     MetricId::kGpuEccVolatileUncorrected},
    {"ecc.errors.corrected.aggregate.total", "ecc.errors.corrected.aggregate.total", "",
     MetricId::kGpuEccAggregateCorrected},
    {"ecc.errors.uncorrected.aggregate.total", "ecc.errors.uncorrected.aggregate.total", "",
     MetricId::kGpuEccAggregateUncorrected},
    // The columns of `nvidia-smi dmon`, in its units; its MB are MiB.
    {"pwr", "pwr", "W", MetricId::kGpuPower},
    {"gtemp", "gtemp", "C", MetricId::kGpuTemperature},
    {"mtemp", "mtemp", "C", MetricId::kGpuTemperatureMemory},
    {"sm", "sm", "%", MetricId::kGpuUtil, kPercent},
    {"mem", "mem", "%", MetricId::kGpuUtilMemory, kPercent},
    {"enc", "enc", "%", MetricId::kGpuUtilEncoder, kPercent},
    {"dec", "dec", "%", MetricId::kGpuUtilDecoder, kPercent},
    {"mclk", "mclk", "MHz", MetricId::kGpuClockMemory},
    {"pclk", "pclk", "MHz", MetricId::kGpuClockSm},
    {"fb", "fb", "MB", MetricId::kGpuMemoryUsed, kPerMib},
    {"sbecc", "sbecc", "", MetricId::kGpuEccVolatileCorrected},
    {"dbecc", "dbecc", "", MetricId::kGpuEccVolatileUncorrected},
    {"pci", "pci", "", MetricId::kGpuPcieReplays},
    {"rxpci", "rxpci", "MB/s", MetricId::kGpuPcieRx, kPerMib},
    {"txpci", "txpci", "MB/s", MetricId::kGpuPcieTx, kPerMib},
};

Field own_field(MetricId metric) {
  const sources::MetricInfo& info = sources::metric_info(metric);
  // What a unit says of a text it need not say.
  const std::string_view unit = info.unit == "text" ? std::string_view{} : info.unit;
  return {info.id, info.id, unit, metric, 1, 0, Form::kMeasured};
}

bool is_of_device(MetricId metric) {
  return sources::metric_info(metric).scope == sources::Scope::kDevice;
}

std::string with_long_domain(std::string address) {
  constexpr std::size_t kShortDomain = 4;
  if (address.find(':') == kShortDomain) address.insert(0, kShortDomain, '0');
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return address;
}

std::string number_text(const Field& field, double number) {
  constexpr std::string_view kModes[] = {"Default", "Exclusive_Thread", "Prohibited",
                                         "Exclusive_Process"};
  switch (field.form) {
    case Form::kPstate:
      return fmt::format("P{:.0f}", number);
    case Form::kMask:
      return fmt::format("0x{:016X}", static_cast<std::uint64_t>(number));
    case Form::kActive:
      return number > 0 ? "Active" : "Not Active";
    case Form::kEnabled:
      return number > 0 ? "Enabled" : "Disabled";
    case Form::kCompute:
      return number >= 0 && number < std::size(kModes)
                 ? std::string(kModes[static_cast<std::size_t>(number)])
                 : fmt::format("{:.0f}", number);
    case Form::kMeasured:
      return fmt::format("{:.15g}", number);
    default:
      return fmt::format("{:.{}f}", number * field.scale, field.decimals);
  }
}

// Pyrometer's own that is no metric.
constexpr Field kRanks{"ranks", "ranks", "", MetricId::kGpuProcesses, 1, 0, Form::kRanks};

std::string ranks_text(const Device& device) {
  std::set<std::int64_t> ranks;
  for (const Process& process : device.processes) {
    const double* const rank = process.owner.rank.number();
    if (rank != nullptr) ranks.insert(static_cast<std::int64_t>(*rank));
  }
  std::string text;
  for (const std::int64_t rank : ranks) text += (text.empty() ? "" : " ") + std::to_string(rank);
  return text;
}

}  // namespace

std::optional<Field> find_field(std::string_view name) {
  for (const Field& field : kSmiFields) {
    if (field.name == name) return field;
    // What R535 and older call it. The header has the new name.
    constexpr std::string_view kOld = "clocks_throttle_reasons.";
    constexpr std::string_view kNew = "clocks_event_reasons.";
    if (name.starts_with(kOld) && field.name.starts_with(kNew) &&
        field.name.substr(kNew.size()) == name.substr(kOld.size())) {
      return field;
    }
  }
  if (name == kRanks.name) return kRanks;
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    if (is_of_device(metric) && sources::metric_info(metric).id == name) return own_field(metric);
  }
  return std::nullopt;
}

std::vector<Field> all_fields() {
  std::vector<Field> fields(std::begin(kSmiFields), std::end(kSmiFields));
  fields.push_back(kRanks);
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    if (is_of_device(metric)) fields.push_back(own_field(metric));
  }
  return fields;
}

std::optional<std::string> field_text(const Field& field, const Device& device,
                                      const Snapshot& snapshot) {
  if (field.form == Form::kTime) return smi_time_text(snapshot.unix_ms);
  if (field.form == Form::kCount) {
    return std::to_string(
        std::ranges::count_if(snapshot.devices, [](const Device& one) { return !one.is_mig; }));
  }
  if (field.form == Form::kRanks) {
    std::string ranks = ranks_text(device);
    return ranks.empty() ? std::nullopt : std::optional(std::move(ranks));
  }
  const Value& value = value_of(device, field.metric);
  if (const double* number = value.number()) return number_text(field, *number);
  if (const std::string* text = value.text()) {
    return field.form == Form::kPciId ? with_long_domain(*text) : *text;
  }
  return std::nullopt;
}

}  // namespace pyrometer::readout
