#include "sources/amd/card.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sources/amd/sysfs.h"

namespace pyrometer::sources::amd {
namespace {

constexpr double kPercent = 0.01;
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;
constexpr double kMega = 1e-6;  // of hertz
constexpr double kKiB = 1024;

bool is_plausible(MetricId metric, double number) {
  const std::string_view unit = metric_info(metric).unit;
  if (unit == "fraction") return number >= 0 && number <= (metric == MetricId::kGpuFan ? 2 : 1);
  if (unit == "C") return number > -60 && number < 250;
  if (unit == "W" || unit == "MHz") return number >= 0 && number < 20'000;
  return number >= 0 && number < 1e18;
}

}  // namespace

void CardReader::put(MetricId metric, Value value) {
  batch_.put(metric, card_.subject, monotonic_ns(), std::move(value));
}

std::optional<double> CardReader::ask(const std::string& path, double scale) {
  const auto number = files_.read_number(path);
  return number ? std::optional(static_cast<double>(*number) * scale) : std::nullopt;
}

void CardReader::file(MetricId metric, const std::optional<double>& value, std::string_view why) {
  if (!value) return missing(metric, Absence::kNotSupported, why);
  if (!is_plausible(metric, *value)) return missing(metric, Absence::kImplausible, {});
  put(metric, Value::number(*value));
}

std::optional<double> CardReader::number(MetricId metric, const std::string& path, double scale) {
  const auto text = files_.read(path);
  if (!text) {
    const Gap gap = files_.gap();
    missing(metric, gap.absence, gap.text);
    return std::nullopt;
  }
  const auto value = to_number(trim(*text));
  if (!value) {
    missing(metric, Absence::kNotAvailable, "the driver gave no number");
    return std::nullopt;
  }
  const double scaled = static_cast<double>(*value) * scale;
  file(metric, scaled, {});
  return is_plausible(metric, scaled) ? std::optional(scaled) : std::nullopt;
}

GpuMetrics CardReader::table() {
  const auto bytes = files_.read(of("gpu_metrics"));
  if (bytes) return parse_gpu_metrics(*bytes);
  GpuMetrics none;
  none.refused = "the driver has no gpu_metrics";
  return none;
}

void CardReader::read_fast() {
  put(MetricId::kGpuLost, Value::number(card_.is_lost ? 1 : 0));
  if (card_.may_sleep) put(MetricId::kGpuAsleep, Value::number(card_.is_asleep ? 1 : 0));
  if (card_.is_lost || card_.is_asleep) return;
  const GpuMetrics metrics = table();
  // Integrated GPUs do not tell how busy their memory is.
  if (metrics.busy && !files_.read(of("gpu_busy_percent"))) {
    file(MetricId::kGpuUtil, metrics.busy, {});
  } else {
    number(MetricId::kGpuUtil, of("gpu_busy_percent"), kPercent);
  }
  number(MetricId::kGpuUtilMemory, of("mem_busy_percent"), kPercent);
  read_memory();
  read_clocks(false);
  read_power();
  read_temperatures(metrics);
  read_throttling(metrics);
}

void CardReader::read_memory() {
  const auto total = number(MetricId::kGpuMemoryTotal, of("mem_info_vram_total"), 1);
  const auto used = number(MetricId::kGpuMemoryUsed, of("mem_info_vram_used"), 1);
  if (total && used && *used <= *total) {
    put(MetricId::kGpuMemoryFree, Value::number(*total - *used));
  } else {
    missing(MetricId::kGpuMemoryFree, Absence::kNotAvailable, "total or used memory is not known");
  }
  number(MetricId::kGpuSharedMemoryTotal, of("mem_info_gtt_total"), 1);
  number(MetricId::kGpuSharedMemoryUsed, of("mem_info_gtt_used"), 1);
}

// hwmon measures the clocks where it knows them; the tables of levels tell which one is chosen.
void CardReader::read_clocks(bool limits) {
  struct Clock {
    MetricId now, highest;
    std::string_view levels, measured;
  };
  static constexpr Clock kClocks[] = {
      {MetricId::kGpuClockSm, MetricId::kGpuClockSmMax, "pp_dpm_sclk", "freq1_input"},
      {MetricId::kGpuClockMemory, MetricId::kGpuClockMemoryMax, "pp_dpm_mclk", "freq2_input"}};
  for (const Clock& clock : kClocks) {
    const auto text = files_.read(of(clock.levels));
    const ClockLevels levels = text ? parse_clock_levels(*text) : ClockLevels{};
    if (limits) {
      file(clock.highest, levels.highest, "the driver has no table of clock levels");
      continue;
    }
    const auto measured = ask(sensor(clock.measured), kMega);
    file(clock.now, measured ? measured : levels.current, "the driver tells no clock");
  }
}

void CardReader::read_power() {
  const auto now = ask(sensor("power1_input"), kMicro);
  const auto mean = ask(sensor("power1_average"), kMicro);
  file(MetricId::kGpuPowerAverage, mean, "the driver has no mean of the power");
  const auto watts = now ? now : mean;
  file(MetricId::kGpuPower, watts, "the driver has no sensor of power");
  // Drivers without a sensor say zero.
  if (!watts || *watts <= 0 || !is_plausible(MetricId::kGpuPower, *watts)) {
    card_.energy.interrupt();
    return;
  }
  card_.energy.add(*watts, monotonic_ns());
  put(MetricId::kGpuEnergyPolled, Value::number(card_.energy.joules));
}

void CardReader::read_temperatures(const GpuMetrics& metrics) {
  std::optional<double> edge;
  std::optional<double> junction = metrics.celsius_hotspot;
  std::optional<double> memory = metrics.celsius_memory;
  for (const char* channel : {"temp1", "temp2", "temp3"}) {
    const auto value = ask(sensor(std::string(channel) + "_input"), kMilli);
    if (!value) continue;
    const auto text = files_.read(sensor(std::string(channel) + "_label"));
    const std::string label(text ? trim(*text) : std::string_view("edge"));
    if (label == "edge") edge = value;
    if (label == "junction") junction = value;
    if (label == "mem") memory = value;
  }
  file(MetricId::kGpuTemperature, edge ? edge : junction, "the driver has no sensor of the die");
  file(MetricId::kGpuTemperatureHotspot, junction, "the driver has no sensor of the hottest place");
  file(MetricId::kGpuTemperatureMemory, memory, "the driver has no sensor of the memory");
}

void CardReader::read_throttling(const GpuMetrics& metrics) {
  if (!metrics.throttle) {
    return missing(MetricId::kGpuThrottleMask, Absence::kNotSupported,
                   metrics.refused.empty()
                       ? "this version of gpu_metrics tells no causes that all chips share"
                       : metrics.refused);
  }
  const ThrottleBits& bits = *metrics.throttle;
  const auto set = [this](MetricId metric, bool value, unsigned bit) {
    put(metric, Value::number(value ? 1 : 0));
    return value ? bit : 0;
  };
  const unsigned mask = set(MetricId::kGpuThrottlePowerCap, bits.power, 0x4) |
                        set(MetricId::kGpuThrottleHwSlowdown, bits.current, 0x8) |
                        set(MetricId::kGpuThrottleThermal, bits.thermal, 0x20) |
                        set(MetricId::kGpuThrottleHwThermal, bits.hot_regulator, 0x40);
  put(MetricId::kGpuThrottleMask, Value::number(mask));
}

void CardReader::read_limits() {
  number(MetricId::kGpuPowerLimit, sensor("power1_cap"), kMicro);
  const auto turns = ask(sensor("fan1_input"), 1);
  const auto most = ask(sensor("fan1_max"), 1);
  const auto pulse = ask(sensor("pwm1"), 1.0 / 255);
  if (turns && most && *most > 0) {
    file(MetricId::kGpuFan, *turns / *most, {});
  } else {
    file(MetricId::kGpuFan, pulse, "there is no fan that the driver knows");
  }
}

void CardReader::read_slow(bool brief) {
  if (card_.is_lost || card_.is_asleep) return;
  read_limits();
  if (brief) return;
  const GpuMetrics metrics = table();
  read_link();
  read_energy(metrics);
  read_errors(metrics);
  read_traffic(metrics);
}

void CardReader::read_link() {
  const auto speed = files_.read(of("current_link_speed"));
  const auto generation = speed ? pcie_generation_of(*speed) : std::nullopt;
  file(MetricId::kGpuPcieGeneration, generation ? std::optional<double>(*generation) : std::nullopt,
       "the kernel tells no speed of the link");
  // Integrated GPUs have no lanes; the kernel then says 0 or 255.
  const auto lanes = ask(of("current_link_width"), 1);
  file(MetricId::kGpuPcieWidth, lanes && *lanes >= 1 && *lanes <= 64 ? lanes : std::nullopt,
       "the kernel tells no width of the link");
}

void CardReader::read_energy(const GpuMetrics& metrics) {
  if (metrics.energy_ticks) {
    return file(MetricId::kGpuEnergy, static_cast<double>(*metrics.energy_ticks) * kJoulesPerTick,
                {});
  }
  std::uint64_t ticks = 0;
  std::uint64_t time = 0;
  float micro_joules = 0;
  const bool told = rsmi_ != nullptr && card_.rsmi >= 0 && rsmi_->energy != nullptr &&
                    rsmi_->energy(static_cast<std::uint32_t>(card_.rsmi), &ticks, &micro_joules,
                                  &time) == kRsmiSuccess;
  // Boards without a meter count nothing.
  if (!told || ticks == 0 || !(micro_joules > 0)) {
    return missing(MetricId::kGpuEnergy, Absence::kNotSupported,
                   "neither gpu_metrics nor ROCm SMI tells an energy in a known unit");
  }
  file(MetricId::kGpuEnergy,
       static_cast<double>(ticks) * static_cast<double>(micro_joules) * kMicro, {});
}

void CardReader::read_errors(const GpuMetrics& metrics) {
  const auto text = files_.read(of("ras/umc_err_count"));
  const auto counted = text ? parse_error_counts(*text) : std::nullopt;
  RsmiErrorCount answer{};
  bool is_known = counted.has_value();
  if (counted) {
    answer = {counted->corrected, counted->uncorrected};
  } else if (rsmi_ != nullptr && card_.rsmi >= 0 && rsmi_->ecc_count != nullptr) {
    is_known = rsmi_->ecc_count(static_cast<std::uint32_t>(card_.rsmi), kRsmiMemoryBlock,
                                &answer) == kRsmiSuccess;
  }
  const auto known = [is_known](std::uint64_t count) {
    return is_known ? std::optional(static_cast<double>(count)) : std::nullopt;
  };
  constexpr std::string_view kWhy = "the driver counts no memory errors here";
  file(MetricId::kGpuEccVolatileCorrected, known(answer.corrected), kWhy);
  file(MetricId::kGpuEccVolatileUncorrected, known(answer.uncorrected), kWhy);
  auto replays = ask(of("pcie_replay_count"), 1);
  if (!replays && metrics.pcie_replays) replays = static_cast<double>(*metrics.pcie_replays);
  file(MetricId::kGpuPcieReplays, replays, "the driver counts no replays here");
}

void CardReader::read_traffic(const GpuMetrics& metrics) {
  const auto rate = [&](MetricId metric, const std::optional<std::uint64_t>& kib, Rate& state) {
    if (!kib) {
      return missing(metric, Absence::kNotSupported,
                     metrics.refused.empty() ? "this version of gpu_metrics counts no XGMI traffic"
                                             : metrics.refused);
    }
    put(metric, state.update(*kib, monotonic_ns(), kKiB));
  };
  rate(MetricId::kGpuXgmiRx, metrics.xgmi_read_kib, card_.xgmi_rx);
  rate(MetricId::kGpuXgmiTx, metrics.xgmi_written_kib, card_.xgmi_tx);
}

void CardReader::read_once() {
  put(MetricId::kGpuIndex, Value::number(card_.index));
  put(MetricId::kGpuVendor, Value::text("AMD"));
  put(MetricId::kGpuPciId, Value::text(card_.address));
  if (card_.is_lost) return;
  // Names and numbers are the kernel's own: reading them wakes nothing.
  put(MetricId::kGpuName, Value::text(product_name(files_, card_.folder)));
  put(MetricId::kGpuUuid, card_.uuid.empty()
                              ? Value::missing(Absence::kNotSupported, "the chip has no number")
                              : Value::text(card_.uuid));
  const auto module = files_.read("/sys/module/amdgpu/version");
  std::string version(module ? trim(*module) : std::string_view());
  if (version.empty()) {
    const auto kernel = files_.read("/proc/sys/kernel/osrelease");
    version = kernel ? "Linux " + std::string(trim(*kernel)) : std::string();
  }
  put(MetricId::kGpuDriverVersion,
      version.empty() ? Value::missing(Absence::kNotAvailable) : Value::text(version));
  if (card_.is_asleep) return;
  const auto firmware = files_.read(of("vbios_version"));
  put(MetricId::kGpuFirmwareVersion,
      firmware ? Value::text(std::string(trim(*firmware))) : Value::missing(files_.gap().absence));
  const auto node = files_.read_number(of("numa_node"));
  put(MetricId::kGpuNumaNode, number_or(node, Absence::kNotApplicable, "the machine has one node"));
  read_clocks(true);
  number(MetricId::kGpuPowerLimitMax, sensor("power1_cap_max"), kMicro);
  number(MetricId::kGpuPowerLimitDefault, sensor("power1_cap_default"), kMicro);
  number(MetricId::kGpuTemperatureSlowdown, sensor("temp1_crit"), kMilli);
  const auto speed = files_.read(of("max_link_speed"));
  const auto generation = speed ? pcie_generation_of(*speed) : std::nullopt;
  file(MetricId::kGpuPcieGenerationMax,
       generation ? std::optional<double>(*generation) : std::nullopt,
       "the kernel tells no speed of the link");
  const auto lanes = ask(of("max_link_width"), 1);
  file(MetricId::kGpuPcieWidthMax, lanes && *lanes >= 1 && *lanes <= 64 ? lanes : std::nullopt,
       "the kernel tells no width of the link");
  put_what_amd_lacks();
}

void CardReader::put_what_amd_lacks() {
  struct Lack {
    MetricId first, last;
    std::string_view why;
  };
  static constexpr Lack kLacks[] = {
      {MetricId::kGpuGraphicsActive, MetricId::kGpuFp16Active,
       "AMD's hardware counters need its profiler"},
      {MetricId::kGpuMemoryReserved, MetricId::kGpuMemoryReserved, "amdgpu does not tell it"},
      {MetricId::kGpuPcieTx, MetricId::kGpuPcieRx, "amdgpu measures it only in calls of a second"},
      {MetricId::kGpuNvlinkTx, MetricId::kGpuNvlinkDown, "AMD GPUs have XGMI instead"},
      {MetricId::kGpuEccAggregateCorrected, MetricId::kGpuXid, "amdgpu does not tell it"},
      {MetricId::kGpuNvmlVersion, MetricId::kGpuCores, "of NVIDIA GPUs"}};
  for (const Lack& lack : kLacks) {
    for (auto i = static_cast<std::size_t>(lack.first); i <= static_cast<std::size_t>(lack.last);
         ++i) {
      missing(static_cast<MetricId>(i), Absence::kNotSupported, lack.why);
    }
  }
  for (const MetricId metric :
       {MetricId::kGpuHealth, MetricId::kGpuErrorCodes, MetricId::kGpuUtilEncoder,
        MetricId::kGpuUtilDecoder, MetricId::kGpuClockVideo, MetricId::kGpuPstate}) {
    missing(metric, Absence::kNotSupported, "amdgpu does not tell it");
  }
}

}  // namespace pyrometer::sources::amd
