#include "sources/nvml/nvml_device.h"

#include <cmath>

#include "sources/nvml/nvml_errors.h"

namespace pyrometer::sources::nvml {
namespace {

// A driver may learn to answer (another mode, a module loaded), but not every second.
constexpr std::int64_t kAskAgain = 60'000'000'000;

Gap explain(const Device& device, Gap gap) {
  if (gap.absence == Absence::kNotSupported && gap.text.empty() && device.has_mig_enabled) {
    gap.text = "or not in MIG mode: see the instances";
  }
  return gap;
}

struct Range {
  std::string_view unit;
  double low, high;
};
// Wide enough for any hardware to come, narrow enough for what uninitialised memory holds.
constexpr Range kRanges[] = {
    {"fraction", 0, 1}, {"C", -60, 250},      {"W", 0, 20000},    {"MHz", 0, 20000},
    {"bytes", 0, 1e15}, {"bytes/s", 0, 1e14}, {"lanes", 1, 64},   {"J", 0, 1e13},
    {"count", 0, 1e15}, {"ns", 0, 1e19},      {"mask", 0, 65535},
};

}  // namespace

bool is_plausible(const MetricInfo& metric, double number) {
  if (!std::isfinite(number)) return false;
  for (const Range& range : kRanges) {
    if (range.unit != metric.unit) continue;
    // The share is of the speed intended, which a fan may exceed.
    const double high = metric.id == "gpu.fan" ? 2 : range.high;
    return number >= range.low && number <= high;
  }
  return number >= -1 && number <= 1e6;  // numbers without a unit: indices, states, generations
}

void DeviceReader::put(MetricId metric, Value value) {
  batch_.put(metric, device_.subject, monotonic_ns(), std::move(value));
}

void DeviceReader::note(Return code) {
  if (is_driver_gone(code)) driver_problem_ = code;
  if (is_device_gone(code)) device_problem_ = code;
}

bool DeviceReader::may_ask(MetricId metric) {
  if (device_.is_lost || device_problem_ != kSuccess) {
    missing(metric, {Absence::kDeviceLost, {}});
    return false;
  }
  if (driver_problem_ != kSuccess) return false;
  const std::int64_t& again = device_.ask_again_ns[static_cast<std::size_t>(metric)];
  if (again == 0 || monotonic_ns() >= again) return true;
  missing(metric, explain(device_, {Absence::kNotSupported, {}}));
  return false;
}

std::optional<double> DeviceReader::finish(MetricId metric, Return code,
                                           std::optional<double> number) {
  note(code);
  if (code != kSuccess) {
    const Gap gap = explain(device_, gap_of(code));
    if (gap.absence == Absence::kNotSupported) {
      device_.ask_again_ns[static_cast<std::size_t>(metric)] = monotonic_ns() + kAskAgain;
    }
    missing(metric, gap);
    return std::nullopt;
  }
  if (!number) {
    missing(metric, {Absence::kNotAvailable, "the driver gave no value"});
    return std::nullopt;
  }
  if (!is_plausible(metric_info(metric), *number)) {
    missing(metric, {Absence::kImplausible, {}});
    return std::nullopt;
  }
  put(metric, Value::number(*number));
  return number;
}

Return DeviceReader::ask_field(std::uint32_t field, std::uint32_t scope, double& number,
                               bool& is_short) {
  // A driver that does not know the field may leave all of this as it is.
  FieldValue value{.field = field, .scope = scope, .type = 99, .result = kNoData};
  value.value.u64 = kNoValue64;
  if (const Return code = call(api_.field_values, device_.handle, 1, &value); code != kSuccess) {
    return code;
  }
  if (value.result != kSuccess) return value.result;
  if (value.field != field || value.value.u64 == kNoValue64) return kNoData;
  is_short = false;
  switch (value.type) {
    case kDouble:
      number = value.value.number;
      return kSuccess;
    case kUint:
      is_short = true;
      if (value.value.u32 == kNoValue32) return kNoData;
      number = value.value.u32;
      return kSuccess;
    case kUlong:
    case kUlongLong:
      number = static_cast<double>(value.value.u64);
      return kSuccess;
    case kSlongLong:
      number = static_cast<double>(value.value.s64);
      return kSuccess;
    case kSint:
      is_short = true;
      number = value.value.s32;
      return kSuccess;
    case kUshort:
      is_short = true;
      number = value.value.u16;
      return kSuccess;
    default:
      return kNoData;
  }
}

std::optional<double> DeviceReader::field(MetricId metric, double scale, std::uint32_t field) {
  if (!may_ask(metric)) return std::nullopt;
  double number = 0;
  bool is_short = false;
  const Return code = ask_field(field, 0, number, is_short);
  return finish(metric, code, code == kSuccess ? std::optional(number * scale) : std::nullopt);
}

}  // namespace pyrometer::sources::nvml
