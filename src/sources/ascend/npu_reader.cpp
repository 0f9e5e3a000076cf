#include "sources/ascend/npu_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace pyrometer::sources::ascend {
namespace {

constexpr double kMiB = 1048576;
constexpr std::size_t kMostCodes = 128;

bool is_plausible(MetricId metric, double number) {
  const std::string_view unit = metric_info(metric).unit;
  if (unit == "fraction") return number >= 0 && number <= 1;
  if (unit == "C") return number > -60 && number < 250;
  if (unit == "W" || unit == "MHz") return number >= 0 && number < 20'000;
  return number >= 0 && number < 1e18;
}

template <std::size_t size>
std::string text_of(const char (&bytes)[size]) {
  return {bytes, strnlen(bytes, size)};
}

std::string hex(std::uint32_t number) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[number >> shift & 0xF];
  return text;
}

}  // namespace

void NpuReader::put(MetricId metric, Value value) {
  batch_.put(metric, npu_.subject, monotonic_ns(), std::move(value));
}

std::optional<double> NpuReader::file(MetricId metric, Return code, double value) {
  if (code != kSuccess) {
    is_gone_ = is_gone_ || is_device_gone(code);
    missing(metric, gap_of(code));
    return std::nullopt;
  }
  if (!is_plausible(metric, value)) {
    missing(metric, {Absence::kImplausible, {}});
    return std::nullopt;
  }
  put(metric, Value::number(value));
  return value;
}

std::optional<double> NpuReader::frequency(MetricId metric, int kind) {
  unsigned megahertz = 0;
  const Return code = call(api_.frequency, npu_.card, npu_.chip, kind, &megahertz);
  return file(metric, code, megahertz);
}

void NpuReader::read_fast() {
  put(MetricId::kGpuLost, Value::number(npu_.is_lost ? 1 : 0));
  if (npu_.is_lost) return;
  // Older drivers tell the share of the AI cores alone.
  unsigned percent = 0;
  Return code = call(api_.utilization, npu_.card, npu_.chip, kRateOverall, &percent);
  if (code != kSuccess && !is_device_gone(code)) {
    code = call(api_.utilization, npu_.card, npu_.chip, kRateAiCore, &percent);
  }
  file(MetricId::kGpuUtil, code, percent / 100.0);
  read_memory();
  frequency(MetricId::kGpuClockSm, kFrequencyAiCore);
  int tenths = 0;
  code = call(api_.power, npu_.card, npu_.chip, &tenths);
  const auto watts = file(MetricId::kGpuPower, code, tenths / 10.0);
  if (watts && *watts > 0) {
    npu_.energy.add(*watts, monotonic_ns());
    put(MetricId::kGpuEnergyPolled, Value::number(npu_.energy.joules));
  } else {
    npu_.energy.interrupt();
  }
  int celsius = 0;
  code = call(api_.temperature, npu_.card, npu_.chip, &celsius);
  file(MetricId::kGpuTemperature, code, celsius);
}

// Chips for training have memory on the chip's package (HBM), chips for inference beside it (DDR).
void NpuReader::read_memory() {
  HbmInfo hbm{};
  const Return code = call(api_.hbm_info, npu_.card, npu_.chip, &hbm);
  if (code == kSuccess && hbm.size_mib > 0) {
    const double total = static_cast<double>(hbm.size_mib) * kMiB;
    const double used = static_cast<double>(hbm.used_mib) * kMiB;
    file(MetricId::kGpuMemoryTotal, kSuccess, total);
    file(MetricId::kGpuMemoryUsed, kSuccess, used <= total ? used : -1);
    file(MetricId::kGpuMemoryFree, kSuccess, total - used);
    file(MetricId::kGpuUtilMemory, kSuccess, hbm.bandwidth_percent / 100.0);
    file(MetricId::kGpuClockMemory, kSuccess, hbm.megahertz);
    file(MetricId::kGpuTemperatureMemory, kSuccess, hbm.celsius);
    return;
  }
  // The structure has grown before.
  struct {
    MemoryInfo info;
    unsigned char more[256];
  } ddr{};
  const Return again = call(api_.memory_info, npu_.card, npu_.chip, &ddr.info);
  const double total = static_cast<double>(ddr.info.size_mib) * kMiB;
  const double free = static_cast<double>(ddr.info.available_mib) * kMiB;
  file(MetricId::kGpuMemoryTotal, again, total);
  file(MetricId::kGpuMemoryFree, again, free);
  file(MetricId::kGpuMemoryUsed, again, total - free);
  file(MetricId::kGpuClockMemory, again, ddr.info.megahertz);
  const Gap none{Absence::kNotSupported, "of chips with HBM"};
  missing(MetricId::kGpuUtilMemory, none);
  missing(MetricId::kGpuTemperatureMemory, none);
}

void NpuReader::read_slow(bool brief) {
  if (npu_.is_lost) return;
  read_health();
  if (!brief) read_ecc();
}

void NpuReader::read_health() {
  unsigned level = kHealthUnknown;
  const Return code = call(api_.health, npu_.card, npu_.chip, &level);
  if (code == kSuccess && level == kHealthUnknown) {
    missing(MetricId::kGpuHealth,
            {Absence::kNotAvailable, "the device is not there or not started"});
  } else if (code == kSuccess && level > 3) {
    missing(MetricId::kGpuHealth, {Absence::kImplausible, {}});
  } else {
    file(MetricId::kGpuHealth, code, level);
  }
  std::array<unsigned, kMostCodes> codes{};
  int count = 0;
  const Return told = call(api_.error_codes, npu_.card, npu_.chip, &count, codes.data(),
                           static_cast<unsigned>(codes.size()));
  if (told != kSuccess) return missing(MetricId::kGpuErrorCodes, gap_of(told));
  std::string text;
  for (int i = 0; i < std::clamp(count, 0, static_cast<int>(kMostCodes)); ++i) {
    text += (text.empty() ? "" : " ") + hex(codes[static_cast<std::size_t>(i)]);
  }
  put(MetricId::kGpuErrorCodes, Value::text(text.empty() ? "none" : text));
}

void NpuReader::read_ecc() {
  EccInfo ecc{};
  Return code = call(api_.ecc_info, npu_.card, npu_.chip, kEccHbm, &ecc);
  if (code != kSuccess && !is_device_gone(code)) {
    code = call(api_.ecc_info, npu_.card, npu_.chip, kEccDdr, &ecc);
  }
  file(MetricId::kGpuEccEnabled, code, ecc.is_on != 0 ? 1 : 0);
  file(MetricId::kGpuEccVolatileCorrected, code, ecc.single_now);
  file(MetricId::kGpuEccVolatileUncorrected, code, ecc.double_now);
  file(MetricId::kGpuEccAggregateCorrected, code, ecc.single_ever);
  file(MetricId::kGpuEccAggregateUncorrected, code, ecc.double_ever);
}

void NpuReader::read_once() {
  put(MetricId::kGpuIndex, Value::number(npu_.index));
  put(MetricId::kGpuVendor, Value::text("Huawei"));
  const auto known = [](const std::string& text) {
    return text.empty() ? Value::missing(Absence::kNotAvailable, "DCMI does not tell it")
                        : Value::text(text);
  };
  put(MetricId::kGpuUuid, known(npu_.uuid));
  put(MetricId::kGpuPciId, known(npu_.pci_id));
  if (npu_.is_lost) return;
  ChipInfo chip{};
  Return code = call(api_.chip_info_v2, npu_.card, npu_.chip, &chip);
  if (code != kSuccess) {
    chip = {};
    code = call(api_.chip_info, npu_.card, npu_.chip, &chip);
  }
  const std::string type = text_of(chip.type);
  const std::string name = text_of(chip.name);
  // "Ascend" and "910B3".
  const std::string whole = name.starts_with(type) || type.empty() ? name : type + " " + name;
  put(MetricId::kGpuName, code == kSuccess && !whole.empty()
                              ? Value::text(whole)
                              : Value::missing(gap_of(code).absence, gap_of(code).text));
  std::array<char, 128> version{};
  code = call(api_.driver_version, version.data(), static_cast<unsigned>(version.size() - 1));
  put(MetricId::kGpuDriverVersion, code == kSuccess && version[0] != '\0'
                                       ? Value::text(version.data())
                                       : Value::missing(gap_of(code).absence, gap_of(code).text));
  frequency(MetricId::kGpuClockSmMax, kFrequencyAiCoreMost);
  struct Lack {
    MetricId first, last;
    std::string_view why;
  };
  static constexpr Lack kLacks[] = {
      {MetricId::kGpuGraphicsActive, MetricId::kGpuFp16Active,
       "hardware counters of Ascend chips need its profiler"},
      {MetricId::kGpuSharedMemoryTotal, MetricId::kGpuSharedMemoryUsed, "of AMD GPUs"},
      {MetricId::kGpuPowerAverage, MetricId::kGpuEnergy, "DCMI does not tell it"},
      {MetricId::kGpuTemperatureHotspot, MetricId::kGpuTemperatureHotspot, "DCMI does not tell it"},
      {MetricId::kGpuFan, MetricId::kGpuViolationThermal, "DCMI does not tell it"},
      {MetricId::kGpuPcieGeneration, MetricId::kGpuXgmiRx, "DCMI does not tell it"},
      {MetricId::kGpuRemappedRowsCorrected, MetricId::kGpuXid, "of NVIDIA GPUs"},
      {MetricId::kGpuNvmlVersion, MetricId::kGpuCores, "of NVIDIA GPUs"}};
  for (const Lack& lack : kLacks) {
    for (auto i = static_cast<std::size_t>(lack.first); i <= static_cast<std::size_t>(lack.last);
         ++i) {
      missing(static_cast<MetricId>(i), {Absence::kNotSupported, lack.why});
    }
  }
}

}  // namespace pyrometer::sources::ascend
