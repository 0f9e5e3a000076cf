#include "server/gpu_metrics.h"

#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "readout/fields.h"
#include "server/exported_name.h"

namespace pyrometer::server {
namespace {

using output::Exposition;
using output::Labels;
using output::MetricType;
using readout::Device;
using readout::DeviceState;
using readout::number_of;
using readout::Process;
using readout::text_of;
using sources::MetricId;

// More processes than any GPU runs in earnest: a bound on what one page can hold.
constexpr std::size_t kMostProcesses = 512;

std::string whole_number(const Device& device, MetricId metric) {
  const std::optional<double> number = number_of(device, metric);
  return number ? std::to_string(static_cast<long>(*number)) : std::string();
}

std::string text(const sources::Value& value) {
  return value.text() == nullptr ? std::string() : *value.text();
}

std::string rank_text(const sources::Value& rank) {
  return rank.number() == nullptr ? std::string()
                                  : std::to_string(static_cast<long>(*rank.number()));
}

// NVML's form, with a domain of eight digits.
std::string dcgm_pci_id(const Device& device) {
  static const std::optional<readout::Field> kField = readout::find_field("pci.bus_id");
  static const readout::Snapshot kNone;
  return readout::field_text(*kField, device, kNone).value_or("");
}

// "NVIDIA H200 MIG 1g.18gb" is how NVML calls an instance; the model is that of the GPU.
std::string model_of(const Device& device) {
  const std::string name = text_of(device, MetricId::kGpuName);
  return device.is_mig ? name.substr(0, name.find(" MIG ")) : name;
}

// DCGM knows NVIDIA's GPUs alone; made-up ones pass for such, to try a dashboard on.
bool has_dcgm_names(const Device& device) {
  const std::string vendor = text_of(device, MetricId::kGpuVendor);
  return vendor.empty() || vendor == "NVIDIA" || vendor == "Demo";
}

// What all processes of a device have in common; empty where they differ or there is none.
std::string common(const Device& device, sources::Value sources::ProcessOwner::*part) {
  std::set<std::string> all;
  for (const Process& process : device.processes) all.insert(text(process.owner.*part));
  return all.size() == 1 ? *all.begin() : std::string();
}

MetricType type_of(const sources::MetricInfo& info) {
  return info.kind == sources::MetricKind::kCounter ? MetricType::kCounter : MetricType::kGauge;
}

Labels info_labels(const LabelledDevice& one) {
  Labels labels = one.own;
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    const sources::MetricInfo& info = sources::metric_info(metric);
    if (info.kind != sources::MetricKind::kText || info.scope != sources::Scope::kDevice) continue;
    switch (metric) {
      case MetricId::kGpuName:
      case MetricId::kGpuUuid:
      case MetricId::kGpuPciId:
      case MetricId::kGpuParentUuid:
      case MetricId::kGpuMigProfile:
        continue;  // stand in every series
      default:
        labels.add(info.id.substr(info.id.find('.') + 1), text_of(*one.device, metric));
    }
  }
  return labels;
}

LabelledDevice label(const Device& device, const std::string& host,
                     const GpuMetricsOptions& options) {
  LabelledDevice one{.device = &device, .own = {}, .dcgm = {}};
  const std::string index = whole_number(device, MetricId::kGpuIndex);
  const std::string uuid = text_of(device, MetricId::kGpuUuid);
  const std::string model = model_of(device);
  one.own.add("gpu", index)
      .add("uuid", uuid)
      .add("pci_bus_id", text_of(device, MetricId::kGpuPciId))
      .add("model", model);
  const std::string instance = whole_number(device, MetricId::kGpuGpuInstance);
  const std::string profile = text_of(device, MetricId::kGpuMigProfile);
  if (device.is_mig) {
    one.own.add("parent_uuid", text_of(device, MetricId::kGpuParentUuid))
        .add("mig_profile", profile)
        .add("gpu_instance", instance)
        .add("compute_instance", whole_number(device, MetricId::kGpuComputeInstance));
  }
  if (!options.dcgm || !has_dcgm_names(device)) return one;
  one.dcgm.add("gpu", index)
      .add("UUID", device.is_mig ? text_of(device, MetricId::kGpuParentUuid) : uuid)
      .add("pci_bus_id", dcgm_pci_id(device))
      .add("device", index.empty() ? "" : "nvidia" + index)
      .add("modelName", model);
  if (device.is_mig) one.dcgm.add("GPU_I_PROFILE", profile).add("GPU_I_ID", instance);
  one.dcgm.add(options.dcgm_hostname_label, host);
  using sources::ProcessOwner;
  one.dcgm.add("container", common(device, &ProcessOwner::pod_container))
      .add("namespace", common(device, &ProcessOwner::pod_namespace))
      .add("pod", common(device, &ProcessOwner::pod))
      .add("hpc_job", common(device, &ProcessOwner::slurm_job));
  return one;
}

}  // namespace

std::vector<LabelledDevice> label_devices(const readout::Snapshot& snapshot,
                                          const GpuMetricsOptions& options) {
  std::vector<LabelledDevice> devices;
  std::set<std::string> seen;
  std::set<std::string> seen_dcgm;
  for (const Device& device : snapshot.devices) {
    LabelledDevice one = label(device, snapshot.host, options);
    if (!seen.insert(one.own.text()).second) continue;
    if (!seen_dcgm.insert(one.dcgm.text()).second) one.dcgm = {};
    devices.push_back(std::move(one));
  }
  return devices;
}

void write_gpu_metrics(const std::vector<LabelledDevice>& devices, Exposition& out) {
  out.family("pyrometer_gpu_info", MetricType::kGauge,
             "Always 1; what the GPU or MIG instance is stands in the labels.");
  for (const LabelledDevice& one : devices) out.sample(info_labels(one), 1);
  out.family("pyrometer_gpu_up", MetricType::kGauge,
             "1 while the GPU answers, 0 while it is lost or asleep.");
  for (const LabelledDevice& one : devices) {
    out.sample(one.own, one.device->state == DeviceState::kOk ? 1 : 0);
  }
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    const sources::MetricInfo& info = sources::metric_info(metric);
    const ExportedName& as = exported_name(metric);
    if (as.name.empty() || info.scope != sources::Scope::kDevice) continue;
    out.family(as.name, type_of(info), info.help, as.unit);
    for (const LabelledDevice& one : devices) {
      if (const auto number = number_of(*one.device, metric)) {
        out.sample(one.own, *number * as.scale);
      }
    }
  }
}

void write_process_metrics(const std::vector<LabelledDevice>& devices, Exposition& out) {
  struct Row {
    Labels labels;
    const Process* process;
  };
  std::vector<Row> rows;
  for (const LabelledDevice& one : devices) {
    for (const Process& process : one.device->processes) {
      if (rows.size() == kMostProcesses) break;
      Labels labels = one.own;
      const sources::ProcessOwner& owner = process.owner;
      labels.add("pid", std::to_string(process.pid))
          .add("type", process.computes ? "compute" : "graphics")
          .add("user", text(owner.user))
          .add("program", text(owner.program))
          .add("container_id", text(owner.container))
          .add("slurm_job", text(owner.slurm_job))
          .add("rank", rank_text(owner.rank))
          .add("namespace", text(owner.pod_namespace))
          .add("pod", text(owner.pod))
          .add("container", text(owner.pod_container));
      rows.push_back({std::move(labels), &process});
    }
  }
  const auto write = [&](MetricId metric, const sources::Value Process::*value) {
    const ExportedName& as = exported_name(metric);
    out.family(as.name, MetricType::kGauge, sources::metric_info(metric).help, as.unit);
    for (const Row& row : rows) {
      if (const double* number = (row.process->*value).number()) {
        out.sample(row.labels, *number * as.scale);
      }
    }
  };
  write(MetricId::kGpuProcessMemory, &Process::memory);
  write(MetricId::kGpuProcessUtil, &Process::util);
}

namespace {

// DCGM makes a rate of what the driver counts in both directions: thousands of KiB per second. Its
// exporter's file of counters calls it a counter, which it is not.
void write_nvlink_total(const std::vector<LabelledDevice>& devices, Exposition& out) {
  constexpr double kUnit = 1024 * 1000.0;
  out.family("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", MetricType::kGauge,
             "NVLink traffic from and to the GPU, all links (thousands of KiB per second).");
  for (const LabelledDevice& one : devices) {
    const auto sent = number_of(*one.device, MetricId::kGpuNvlinkTx);
    const auto received = number_of(*one.device, MetricId::kGpuNvlinkRx);
    if (one.dcgm.text().empty() || !sent || !received) continue;
    out.sample(one.dcgm, (*sent + *received) / kUnit);
  }
}

}  // namespace

void write_dcgm_metrics(const std::vector<LabelledDevice>& devices, Exposition& out) {
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    const sources::MetricInfo& info = sources::metric_info(metric);
    if (info.dcgm.empty()) continue;
    out.family(info.dcgm,
               info.kind == sources::MetricKind::kCounter ? MetricType::kForeignCounter
                                                          : MetricType::kGauge,
               info.help);
    for (const LabelledDevice& one : devices) {
      if (one.dcgm.text().empty()) continue;
      const auto number = number_of(*one.device, metric);
      if (!number) continue;
      const double value = *number * info.dcgm_scale;
      // DCGM counts whole MiB.
      out.sample(one.dcgm, info.unit == "bytes" ? std::floor(value) : value);
    }
  }
  write_nvlink_total(devices, out);
}

}  // namespace pyrometer::server
