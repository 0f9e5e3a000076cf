// Series about GPUs, MIG instances and their processes: Pyrometer's own and DCGM's.
#pragma once

#include <string>
#include <vector>

#include "output/exposition.h"
#include "readout/snapshot.h"

namespace pyrometer::server {

struct GpuMetricsOptions {
  bool processes = true;
  bool dcgm = true;
  std::string dcgm_hostname_label = "Hostname";
};

// A device and the labels of its series.
struct LabelledDevice {
  const readout::Device* device = nullptr;
  output::Labels own;   // gpu, uuid, pci_bus_id, model; instances: parent_uuid, mig_profile, …
  output::Labels dcgm;  // as dcgm-exporter has them; empty: not to be exported under its names
};

// Labels of no two devices are the same: Prometheus would refuse the whole page. Devices that
// cannot be told apart are left out but for the first; under DCGM's names, which do not tell
// compute instances apart, so are all of a GPU instance but the first.
[[nodiscard]] std::vector<LabelledDevice> label_devices(const readout::Snapshot& snapshot,
                                                        const GpuMetricsOptions& options);

void write_gpu_metrics(const std::vector<LabelledDevice>& devices, output::Exposition& out);
void write_process_metrics(const std::vector<LabelledDevice>& devices, output::Exposition& out);
void write_dcgm_metrics(const std::vector<LabelledDevice>& devices, output::Exposition& out);

}  // namespace pyrometer::server
