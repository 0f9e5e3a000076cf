#include "sources/nvml/readings.h"

#include <iterator>

#include "sources/nvml/nvml_errors.h"

namespace pyrometer::sources::nvml {
namespace {

constexpr Gap kOfWholeGpu{Absence::kNotApplicable, "of the whole GPU, not of a MIG instance"};
constexpr Gap kNotInMig{Absence::kNotSupported, "the driver does not measure it for MIG instances"};
constexpr double kPercent = 0.01;
constexpr double kMilli = 1e-3;
constexpr std::uint32_t kPstateUnknown = 32;

void read_utilization(DeviceReader& reader) {
  if (reader.device().is_mig) {
    reader.missing(MetricId::kGpuUtil, kNotInMig);
    reader.missing(MetricId::kGpuUtilMemory, kNotInMig);
    return;
  }
  const bool ask = reader.may_ask(MetricId::kGpuUtil);
  const bool ask_memory = reader.may_ask(MetricId::kGpuUtilMemory);
  if (!ask || !ask_memory) return;
  Utilization share{kNoValue32, kNoValue32};
  const Return code = call(reader.api().utilization, reader.device().handle, &share);
  const auto fraction = [](std::uint32_t percent) {
    return percent == kNoValue32 ? std::nullopt : std::optional(percent * kPercent);
  };
  reader.finish(MetricId::kGpuUtil, code, fraction(share.gpu));
  reader.finish(MetricId::kGpuUtilMemory, code, fraction(share.memory));
}

struct MemoryAnswer {
  Return code = kFunctionNotFound;
  std::optional<double> total, used, free, reserved;
};

MemoryAnswer ask_memory(const Api& api, Handle handle) {
  const auto number = [](std::uint64_t bytes) {
    return bytes == kNoValue64 ? std::nullopt : std::optional(static_cast<double>(bytes));
  };
  MemoryV2 v2{struct_version<MemoryV2>(2), kNoValue64, kNoValue64, kNoValue64, kNoValue64};
  if (const Return code = call(api.memory_v2, handle, &v2); code == kSuccess) {
    // Some releases document that `used` includes `reserved`; the sum tells.
    const bool includes = v2.used >= v2.reserved && v2.used + v2.free == v2.total;
    const std::uint64_t used = includes && v2.reserved > 0 ? v2.used - v2.reserved : v2.used;
    return {kSuccess, number(v2.total), number(used), number(v2.free), number(v2.reserved)};
  } else if (code != kFunctionNotFound && code != kArgumentVersionMismatch) {
    return {code};
  }
  // Version 1 counts what the driver reserves as used: then neither is known.
  Memory v1{kNoValue64, kNoValue64, kNoValue64};
  const Return code = call(api.memory, handle, &v1);
  return {code, number(v1.total), std::nullopt, number(v1.free), std::nullopt};
}

void read_memory(DeviceReader& reader) {
  const bool ask = reader.may_ask(MetricId::kGpuMemoryTotal);
  if (!ask) {
    for (const MetricId metric :
         {MetricId::kGpuMemoryUsed, MetricId::kGpuMemoryFree, MetricId::kGpuMemoryReserved}) {
      static_cast<void>(reader.may_ask(metric));  // puts the reason down
    }
    return;
  }
  MemoryAnswer answer = ask_memory(reader.api(), reader.device().handle);
  if (answer.code == kNotSupported && !reader.device().has_mig_enabled) {
    // Never the system's memory in its place: the caller decides what unified memory means.
    const Gap unified{Absence::kNotSupported, "the GPU shares the system's memory"};
    for (const MetricId metric : {MetricId::kGpuMemoryTotal, MetricId::kGpuMemoryUsed,
                                  MetricId::kGpuMemoryFree, MetricId::kGpuMemoryReserved}) {
      reader.missing(metric, unified);
    }
    return;
  }
  const bool sound = answer.total && *answer.total > 0 &&
                     is_plausible(metric_info(MetricId::kGpuMemoryTotal), *answer.total) &&
                     answer.free.value_or(0) <= *answer.total &&
                     answer.used.value_or(0) <= *answer.total;
  const auto file = [&](MetricId metric, const std::optional<double>& bytes) {
    if (answer.code == kSuccess && !sound) {
      reader.missing(metric, {Absence::kImplausible, {}});
    } else {
      reader.finish(metric, answer.code, bytes);
    }
  };
  file(MetricId::kGpuMemoryTotal, answer.total);
  file(MetricId::kGpuMemoryUsed, answer.used);
  file(MetricId::kGpuMemoryFree, answer.free);
  file(MetricId::kGpuMemoryReserved, answer.reserved);
}

void read_power(DeviceReader& reader) {
  if (!reader.may_ask(MetricId::kGpuPower)) return;
  Device& device = reader.device();
  double milliwatts = 0;
  bool is_short = false;
  Return code = reader.ask_field(kFieldPowerInstant, 0, milliwatts, is_short);
  if (code != kSuccess && !is_device_gone(code) && !is_driver_gone(code)) {
    std::uint32_t value = kNoValue32;
    code = call(reader.api().power, device.handle, &value);
    if (code == kSuccess && value == kNoValue32) code = kNoData;
    milliwatts = value;
  }
  // A board that is awake draws power: drivers without a sensor say zero.
  if (code == kSuccess && milliwatts == 0) code = kNoData;
  const auto watts =
      reader.finish(MetricId::kGpuPower, code,
                    code == kSuccess ? std::optional(milliwatts * kMilli) : std::nullopt);
  if (!watts) {
    device.energy.interrupt();
    return;
  }
  device.energy.add(*watts, monotonic_ns());
  reader.put(MetricId::kGpuEnergyPolled, Value::number(device.energy.joules));
}

void read_throttling(DeviceReader& reader) {
  struct Bit {
    MetricId metric;
    std::uint64_t mask;
  };
  constexpr Bit kBits[] = {
      {MetricId::kGpuThrottleIdle, 0x1},       {MetricId::kGpuThrottleAppClocks, 0x2},
      {MetricId::kGpuThrottlePowerCap, 0x4},   {MetricId::kGpuThrottleHwSlowdown, 0x8},
      {MetricId::kGpuThrottleSyncBoost, 0x10}, {MetricId::kGpuThrottleThermal, 0x20},
      {MetricId::kGpuThrottleHwThermal, 0x40}, {MetricId::kGpuThrottlePowerBrake, 0x80},
  };
  const Device& device = reader.device();
  const auto mask =
      reader.number<std::uint64_t>(MetricId::kGpuThrottleMask, 1, [&](std::uint64_t* value) {
        return call(reader.api().throttle_reasons, device.handle, value);
      });
  // Without the mask its reading says why; the names then have nothing to add.
  if (!mask) return;
  const auto bits = static_cast<std::uint64_t>(*mask);
  for (const Bit& bit : kBits) {
    reader.put(bit.metric, Value::number((bits & bit.mask) != 0 ? 1 : 0));
  }
}

// The functions that return one number, as a table.
struct Plain32 {
  MetricId metric;
  double scale;
  Api::Number32 Api::*function;
};
struct Indexed {
  MetricId metric;
  double scale;
  Api::Indexed32 Api::*function;
  std::uint32_t which;
};

template <std::size_t count>
void read_plain(DeviceReader& reader, const Plain32 (&table)[count]) {
  for (const Plain32& entry : table) {
    reader.number<std::uint32_t>(entry.metric, entry.scale, [&](std::uint32_t* value) {
      return call(reader.api().*entry.function, reader.device().handle, value);
    });
  }
}

template <std::size_t count>
void read_indexed(DeviceReader& reader, const Indexed (&table)[count]) {
  for (const Indexed& entry : table) {
    reader.number<std::uint32_t>(entry.metric, entry.scale, [&](std::uint32_t* value) {
      return call(reader.api().*entry.function, reader.device().handle, entry.which, value);
    });
  }
}

void read_ecc(DeviceReader& reader) {
  struct Counter {
    MetricId metric;
    std::uint32_t error, kind;
  };
  constexpr Counter kCounters[] = {
      {MetricId::kGpuEccVolatileCorrected, kCorrected, kVolatile},
      {MetricId::kGpuEccVolatileUncorrected, kUncorrected, kVolatile},
      {MetricId::kGpuEccAggregateCorrected, kCorrected, kAggregate},
      {MetricId::kGpuEccAggregateUncorrected, kUncorrected, kAggregate}};
  for (const Counter& counter : kCounters) {
    reader.number<std::uint64_t>(counter.metric, 1, [&](std::uint64_t* value) {
      return call(reader.api().ecc_errors, reader.device().handle, counter.error, counter.kind,
                  value);
    });
  }
}

void read_remapped(DeviceReader& reader) {
  constexpr MetricId kMetrics[] = {MetricId::kGpuRemappedRowsCorrected,
                                   MetricId::kGpuRemappedRowsUncorrected,
                                   MetricId::kGpuRemapPending, MetricId::kGpuRemapFailed};
  std::uint32_t values[4] = {kNoValue32, kNoValue32, kNoValue32, kNoValue32};
  bool ask = true;
  for (const MetricId metric : kMetrics) ask = reader.may_ask(metric) && ask;
  if (!ask) return;
  const Return code = call(reader.api().remapped_rows, reader.device().handle, &values[0],
                           &values[1], &values[2], &values[3]);
  for (std::size_t i = 0; i < 4; ++i) {
    reader.finish(kMetrics[i], code,
                  values[i] == kNoValue32 ? std::nullopt : std::optional<double>(values[i]));
  }
}

void read_violations(DeviceReader& reader) {
  for (const auto& [metric, policy] : {std::pair(MetricId::kGpuViolationPower, kPolicyPower),
                                       std::pair(MetricId::kGpuViolationThermal, kPolicyThermal)}) {
    reader.number<std::uint64_t>(metric, 1, [&, policy = policy](std::uint64_t* value) {
      ViolationTime time{kNoValue64, kNoValue64};
      const Return code = call(reader.api().violation, reader.device().handle, policy, &time);
      *value = time.violation_ns;
      return code;
    });
  }
}

void read_codecs(DeviceReader& reader) {
  for (const auto& [metric, function] :
       {std::pair(MetricId::kGpuUtilEncoder, &Api::encoder_utilization),
        std::pair(MetricId::kGpuUtilDecoder, &Api::decoder_utilization)}) {
    reader.number<std::uint32_t>(metric, kPercent, [&, function = function](std::uint32_t* value) {
      std::uint32_t period_us = 0;
      return call(reader.api().*function, reader.device().handle, value, &period_us);
    });
  }
}

// GPUs without a sensor in their memory report zero degrees.
void read_memory_temperature(DeviceReader& reader) {
  if (!reader.may_ask(MetricId::kGpuTemperatureMemory)) return;
  double celsius = 0;
  bool is_short = false;
  Return code = reader.ask_field(kFieldMemoryTemperature, 0, celsius, is_short);
  if (code == kSuccess && celsius == 0) code = kNotSupported;
  reader.finish(MetricId::kGpuTemperatureMemory, code,
                code == kSuccess ? std::optional(celsius) : std::nullopt);
}

void read_license(DeviceReader& reader) {
  if (!reader.may_ask(MetricId::kGpuVgpuLicensed)) return;
  LicensableFeatures told{};
  told.is_supported = -1;  // some drivers report success and write nothing
  Return code = call(reader.api().licensable_features, reader.device().handle, &told);
  const bool is_sound =
      (told.is_supported == 0 || told.is_supported == 1) && told.count <= std::size(told.features);
  if (code == kSuccess && !is_sound) code = kNoData;
  bool is_licensed = false;
  for (std::size_t i = 0; code == kSuccess && told.is_supported == 1 && i < told.count; ++i) {
    is_licensed = is_licensed || told.features[i].is_licensed != 0;
  }
  reader.finish(MetricId::kGpuVgpuLicensed, code,
                code == kSuccess ? std::optional(is_licensed ? 1.0 : 0.0) : std::nullopt);
}

void put_presence(DeviceReader& reader) {
  const Device& device = reader.device();
  reader.put(MetricId::kGpuLost, Value::number(device.is_lost ? 1 : 0));
  if (device.may_sleep) {
    reader.put(MetricId::kGpuAsleep, Value::number(device.is_asleep ? 1 : 0));
  }
}

}  // namespace

void read_fast(DeviceReader& reader, bool brief) {
  put_presence(reader);
  // The rest would only repeat this one reason, once a second.
  if (reader.device().is_lost || reader.device().is_asleep) return;
  read_utilization(reader);
  read_memory(reader);
  if (!brief) read_gpm(reader);
  if (reader.device().is_mig) return;
  static constexpr Indexed kClocks[] = {{MetricId::kGpuClockSm, 1, &Api::clock, kClockSm},
                                        {MetricId::kGpuClockMemory, 1, &Api::clock, kClockMemory},
                                        {MetricId::kGpuTemperature, 1, &Api::temperature, 0}};
  read_indexed(reader, kClocks);
  reader.number<std::uint32_t>(MetricId::kGpuPstate, 1, [&](std::uint32_t* value) {
    const Return code = call(reader.api().pstate, reader.device().handle, value);
    if (*value == kPstateUnknown) *value = kNoValue32;
    return code;
  });
  read_power(reader);
  read_throttling(reader);
}

void read_limits(DeviceReader& reader) {
  const Device& device = reader.device();
  if (device.is_lost || device.is_asleep) return;
  if (device.is_mig) {
    reader.missing(MetricId::kGpuPower, kOfWholeGpu);
    reader.missing(MetricId::kGpuTemperature, kOfWholeGpu);
    return;
  }
  static constexpr Plain32 kNumbers[] = {{MetricId::kGpuPowerLimit, kMilli, &Api::power_limit},
                                         {MetricId::kGpuFan, kPercent, &Api::fan}};
  read_plain(reader, kNumbers);
}

void read_slow(DeviceReader& reader, bool may_block) {
  Device& device = reader.device();
  if (device.is_lost || device.is_asleep) return;
  read_limits(reader);
  if (device.is_mig) {
    reader.missing(MetricId::kGpuEnergy, kOfWholeGpu);
    return;
  }
  reader.field(MetricId::kGpuPowerAverage, kMilli, kFieldPowerAverage);
  reader.number<std::uint64_t>(MetricId::kGpuEnergy, kMilli, [&](std::uint64_t* value) {
    return call(reader.api().energy, device.handle, value);
  });
  read_memory_temperature(reader);
  static constexpr Plain32 kNumbers[] = {{MetricId::kGpuPcieGeneration, 1, &Api::pcie_generation},
                                         {MetricId::kGpuPcieWidth, 1, &Api::pcie_width},
                                         {MetricId::kGpuPcieReplays, 1, &Api::pcie_replays}};
  static constexpr Indexed kClocks[] = {{MetricId::kGpuClockVideo, 1, &Api::clock, kClockVideo}};
  read_plain(reader, kNumbers);
  read_indexed(reader, kClocks);
  read_codecs(reader);
  read_violations(reader);
  read_ecc(reader);
  read_remapped(reader);
  read_license(reader);
  read_traffic(reader, may_block);
  read_nvlinks(reader);
  if (device.watches_xid) {
    reader.put(MetricId::kGpuXid, Value::number(static_cast<double>(device.last_xid)));
  } else {
    reader.missing(MetricId::kGpuXid, device.xid_gap);
  }
}

namespace {

void read_mig_identity(DeviceReader& reader) {
  const Device& device = reader.device();
  reader.put(MetricId::kGpuParentUuid, Value::text(device.parent_uuid));
  reader.put(MetricId::kGpuGpuInstance, Value::number(device.gpu_instance));
  reader.put(MetricId::kGpuComputeInstance, Value::number(device.compute_instance));
}

void read_system(DeviceReader& reader, bool brief) {
  reader.text(MetricId::kGpuDriverVersion, [&](char* text, std::uint32_t size) {
    return call(reader.api().driver_version, text, size);
  });
  if (!brief) {
    reader.text(MetricId::kGpuNvmlVersion, [&](char* text, std::uint32_t size) {
      return call(reader.api().nvml_version, text, size);
    });
  }
  int version = 0;
  const Return code = call(reader.api().cuda_version, &version);
  if (code == kSuccess && version > 0) {
    reader.put(MetricId::kGpuCudaVersion, Value::text(std::to_string(version / 1000) + "." +
                                                      std::to_string(version % 1000 / 10)));
  } else {
    reader.finish(MetricId::kGpuCudaVersion, code, std::nullopt);
  }
}

void read_capability(DeviceReader& reader) {
  int major = -1;
  int minor = -1;
  const Return code = call(reader.api().compute_capability, reader.device().handle, &major, &minor);
  if (code == kSuccess && major > 0 && minor >= 0) {
    reader.put(MetricId::kGpuComputeCapability,
               Value::text(std::to_string(major) + "." + std::to_string(minor)));
  } else {
    reader.finish(MetricId::kGpuComputeCapability, code, std::nullopt);
  }
}

// Pairs of which one half is wanted.
void read_halves(DeviceReader& reader) {
  const Handle handle = reader.device().handle;
  reader.number<std::uint32_t>(MetricId::kGpuEccEnabled, 1, [&](std::uint32_t* value) {
    std::uint32_t pending = 0;
    return call(reader.api().ecc_mode, handle, value, &pending);
  });
  reader.number<std::uint32_t>(MetricId::kGpuPowerLimitMax, kMilli, [&](std::uint32_t* value) {
    std::uint32_t least = 0;
    return call(reader.api().power_limits, handle, &least, value);
  });
}

}  // namespace

void read_once(DeviceReader& reader, bool brief) {
  const Device& device = reader.device();
  const auto known = [&](MetricId metric, const std::string& text) {
    reader.put(metric, text.empty() ? Value::missing(Absence::kNotAvailable) : Value::text(text));
  };
  known(MetricId::kGpuUuid, device.uuid);
  known(MetricId::kGpuPciId, device.pci_id);
  reader.put(MetricId::kGpuIndex, Value::number(device.index));
  reader.put(MetricId::kGpuVendor, Value::text("NVIDIA"));
  read_system(reader, brief);
  if (device.is_lost || device.is_asleep) return;
  reader.text(MetricId::kGpuName, [&](char* text, std::uint32_t size) {
    return call(reader.api().name, device.handle, text, size);
  });
  if (device.is_mig) return read_mig_identity(reader);
  reader.put(MetricId::kGpuMigEnabled, Value::number(device.has_mig_enabled ? 1 : 0));
  reader.put(MetricId::kGpuMigInstances, Value::number(device.mig_instances));
  static constexpr Plain32 kMode[] = {{MetricId::kGpuComputeMode, 1, &Api::compute_mode}};
  static constexpr Indexed kSlowdown[] = {
      {MetricId::kGpuTemperatureSlowdown, 1, &Api::temperature_threshold, kSlowdownThreshold}};
  read_plain(reader, kMode);
  read_indexed(reader, kSlowdown);
  if (brief) return;
  read_capability(reader);
  static constexpr Plain32 kNumbers[] = {
      {MetricId::kGpuCores, 1, &Api::cores},
      {MetricId::kGpuNumaNode, 1, &Api::numa_node},
      {MetricId::kGpuPersistence, 1, &Api::persistence},
      {MetricId::kGpuPowerLimitDefault, kMilli, &Api::power_limit_default},
      {MetricId::kGpuPcieGenerationMax, 1, &Api::pcie_generation_max},
      {MetricId::kGpuPcieWidthMax, 1, &Api::pcie_width_max}};
  static constexpr Indexed kLimits[] = {
      {MetricId::kGpuClockSmMax, 1, &Api::max_clock, kClockSm},
      {MetricId::kGpuClockMemoryMax, 1, &Api::max_clock, kClockMemory}};
  read_plain(reader, kNumbers);
  read_indexed(reader, kLimits);
  read_halves(reader);
}

}  // namespace pyrometer::sources::nvml
