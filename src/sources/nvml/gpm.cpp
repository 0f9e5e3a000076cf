// Mean activity from hardware counters (GPM). It takes two samples and tells what happened between
// them; it does not use the unit that CUPTI, Nsight and DCGM compete for.
#include <memory>
#include <utility>

#include "sources/nvml/nvml_errors.h"
#include "sources/nvml/readings.h"

namespace pyrometer::sources::nvml {
namespace {

constexpr std::int64_t kLeastApart = 100'000'000;  // ns; closer samples give nothing
constexpr double kPercent = 0.01;
constexpr double kMiB = 1048576;

struct Entry {
  std::uint32_t id;
  MetricId metric;
  double scale;
  bool whole;  // not counted for MIG instances
};
constexpr Entry kEntries[] = {
    {1, MetricId::kGpuGraphicsActive, kPercent, false},
    {2, MetricId::kGpuSmActive, kPercent, false},
    {3, MetricId::kGpuSmOccupancy, kPercent, false},
    {4, MetricId::kGpuIntegerActive, kPercent, false},
    {5, MetricId::kGpuTensorActive, kPercent, false},
    {6, MetricId::kGpuTensorDfmaActive, kPercent, false},
    {7, MetricId::kGpuTensorHmmaActive, kPercent, false},
    {8, MetricId::kGpuTensorDmmaActive, kPercent, false},
    {9, MetricId::kGpuTensorImmaActive, kPercent, false},
    {10, MetricId::kGpuDramActive, kPercent, false},
    {11, MetricId::kGpuFp64Active, kPercent, false},
    {12, MetricId::kGpuFp32Active, kPercent, false},
    {13, MetricId::kGpuFp16Active, kPercent, false},
    {20, MetricId::kGpuPcieTx, kMiB, true},
    {21, MetricId::kGpuPcieRx, kMiB, true},
    {60, MetricId::kGpuNvlinkRx, kMiB, true},
    {61, MetricId::kGpuNvlinkTx, kMiB, true},
};

void put_all(DeviceReader& reader, const Gap& gap) {
  for (const Entry& entry : kEntries) {
    // Without GPM the traffic is measured in another way.
    if (!entry.whole) reader.missing(entry.metric, gap);
  }
}

// What stands in the way of hardware counters, if anything.
std::optional<Gap> find_gap(DeviceReader& reader) {
  const Api& api = reader.api();
  Device& device = reader.device();
  if (api.gpm_support == nullptr || api.gpm_sample == nullptr || api.gpm_metrics == nullptr ||
      api.gpm_alloc == nullptr || api.gpm_free == nullptr) {
    return Gap{Absence::kNotSupported, "needs driver 520 or newer"};
  }
  if (device.is_mig && api.gpm_mig_sample == nullptr) {
    return Gap{Absence::kNotSupported, "needs a newer driver for MIG instances"};
  }
  GpmSupport support{.version = 1, .supported = 0};
  const Return code = api.gpm_support(device.is_mig ? device.parent : device.handle, &support);
  reader.note(code);
  if (code != kSuccess) return gap_of(code);
  if (support.supported == 0) {
    return Gap{Absence::kNotSupported, "hardware counters need a Hopper GPU or newer"};
  }
  for (GpmSample* sample : {&device.gpm.kept, &device.gpm.spare}) {
    if (*sample != nullptr) continue;
    if (const Return allocated = api.gpm_alloc(sample); allocated != kSuccess) {
      return gap_of(allocated);
    }
  }
  return std::nullopt;
}

Return take_sample(DeviceReader& reader) {
  Device& device = reader.device();
  return device.is_mig ? call(reader.api().gpm_mig_sample, device.parent, device.gpu_instance,
                              device.gpm.spare)
                       : call(reader.api().gpm_sample, device.handle, device.gpm.spare);
}

void put_metrics(DeviceReader& reader) {
  Device& device = reader.device();
  const auto request = std::make_unique<GpmMetricsGet>();
  request->version = 1;
  request->first = device.gpm.kept;
  request->second = device.gpm.spare;
  for (const Entry& entry : kEntries) {
    if (entry.whole && device.is_mig) continue;
    request->metrics[request->count++] = {.id = entry.id, .result = kNoData, .value = -1};
  }
  const Return code = reader.api().gpm_metrics(request.get());
  reader.note(code);
  std::size_t at = 0;
  for (const Entry& entry : kEntries) {
    if (entry.whole && device.is_mig) continue;
    const GpmMetric& metric = request->metrics[at++];
    const Return each = code != kSuccess ? code : metric.result;
    // A share of 100.02% is a matter of rounding.
    double value = metric.value * entry.scale;
    if (entry.scale == kPercent && value > 1 && value < 1.02) value = 1;
    if (each == kSuccess && metric.id == entry.id) {
      reader.finish(entry.metric, kSuccess, value);
    } else {
      reader.missing(entry.metric, gap_of(each == kSuccess ? kNoData : each));
    }
  }
}

}  // namespace

void read_gpm(DeviceReader& reader) {
  GpmState& gpm = reader.device().gpm;
  if (!std::exchange(gpm.is_tried, true)) gpm.gap = find_gap(reader);
  if (gpm.gap) return put_all(reader, *gpm.gap);
  if (reader.device_problem() != kSuccess) return;
  const std::int64_t now = monotonic_ns();
  if (gpm.kept_ns != 0 && now - gpm.kept_ns < kLeastApart) return;
  const Return code = take_sample(reader);
  reader.note(code);
  if (code != kSuccess) {
    gpm.kept_ns = 0;
    const Gap gap = gap_of(code);
    // MIG mode, a vGPU: that stays so until the device is found anew.
    if (gap.absence == Absence::kNotSupported) gpm.gap = gap;
    return put_all(reader, gap);
  }
  if (gpm.kept_ns == 0) {
    put_all(reader, {Absence::kNotYet, {}});
  } else {
    put_metrics(reader);
  }
  std::swap(gpm.kept, gpm.spare);
  gpm.kept_ns = now;
}

void free_gpm(const Api& api, Device& device) {
  for (GpmSample* sample : {&device.gpm.kept, &device.gpm.spare}) {
    if (*sample != nullptr) static_cast<void>(call(api.gpm_free, *sample));
  }
  device.gpm = {};
}

}  // namespace pyrometer::sources::nvml
