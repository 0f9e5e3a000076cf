// Traffic over PCIe and NVLink where the hardware counters do not tell it, and the state of links.
#include "sources/nvml/nvml_errors.h"
#include "sources/nvml/readings.h"

namespace pyrometer::sources::nvml {
namespace {

struct Counter {
  MetricId metric;
  std::uint32_t field, scope;
  double scale;
  Rate Device::*rate;
};
constexpr Counter kPcie[] = {{MetricId::kGpuPcieTx, kFieldPcieTx, 0, 1, &Device::pcie_tx},
                             {MetricId::kGpuPcieRx, kFieldPcieRx, 0, 1, &Device::pcie_rx}};
constexpr Counter kNvlink[] = {
    {MetricId::kGpuNvlinkTx, kFieldNvlinkTx, kAllLinks, 1024, &Device::nvlink_tx},
    {MetricId::kGpuNvlinkRx, kFieldNvlinkRx, kAllLinks, 1024, &Device::nvlink_rx}};

// The rate of a counter that the driver keeps. False where it has none.
bool read_counter(DeviceReader& reader, const Counter& counter) {
  double number = 0;
  bool is_short = false;
  const Return code = reader.ask_field(counter.field, counter.scope, number, is_short);
  reader.note(code);
  // 32 bits of bytes overflow within a tenth of a second.
  if (code != kSuccess || is_short || number < 0) return false;
  Value rate = (reader.device().*counter.rate)
                   .update(static_cast<std::uint64_t>(number), monotonic_ns(), counter.scale);
  const double* per_second = rate.number();
  if (per_second != nullptr && !is_plausible(metric_info(counter.metric), *per_second)) {
    rate = Value::missing(Absence::kImplausible);
  }
  reader.put(counter.metric, std::move(rate));
  return true;
}

void measure_pcie(DeviceReader& reader, MetricId metric, std::uint32_t which) {
  // The driver counts for 20 ms and tells KiB per second.
  reader.number<std::uint32_t>(metric, 1024, [&](std::uint32_t* value) {
    return call(reader.api().pcie_throughput, reader.device().handle, which, value);
  });
}

}  // namespace

void read_traffic(DeviceReader& reader, bool may_block) {
  Device& device = reader.device();
  if (!device.gpm.gap) return;  // the hardware counters have it
  bool counted = true;
  for (const Counter& counter : kPcie) counted = read_counter(reader, counter) && counted;
  if (!counted && may_block) {
    measure_pcie(reader, MetricId::kGpuPcieTx, kPcieTxCounter);
    measure_pcie(reader, MetricId::kGpuPcieRx, kPcieRxCounter);
  }
  for (const Counter& counter : kNvlink) {
    if (reader.may_ask(counter.metric) && !read_counter(reader, counter)) {
      reader.finish(counter.metric, kNotSupported, std::nullopt);
    }
  }
}

void read_nvlinks(DeviceReader& reader) {
  if (!reader.may_ask(MetricId::kGpuNvlinkActive)) return;
  std::uint32_t up = 0;
  std::uint32_t down = 0;
  Return last = kSuccess;
  for (std::uint32_t link = 0; link < kMostNvlinks; ++link) {
    std::uint32_t state = kNoValue32;
    last = call(reader.api().nvlink_state, reader.device().handle, link, &state);
    if (last != kSuccess) break;  // links are numbered from 0 without holes
    if (state == kEnabled) ++up;
    if (state == 0) ++down;
  }
  reader.note(last);
  if (up + down == 0) {
    reader.finish(MetricId::kGpuNvlinkActive, last == kSuccess ? kNoData : last, std::nullopt);
    return;
  }
  reader.put(MetricId::kGpuNvlinkActive, Value::number(up));
  reader.put(MetricId::kGpuNvlinkDown, Value::number(down));
}

}  // namespace pyrometer::sources::nvml
