#include "sources/nvml/nvml_api.h"

#include <utility>

namespace pyrometer::sources::nvml {
namespace {

void find_identity(const Resolver& r, Api& api) {
  find_function(r, api.init, {"nvmlInit_v2"});
  find_function(r, api.shutdown, {"nvmlShutdown"});
  find_function(r, api.driver_version, {"nvmlSystemGetDriverVersion"});
  find_function(r, api.nvml_version, {"nvmlSystemGetNVMLVersion"});
  find_function(r, api.cuda_version,
                {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find_function(r, api.device_count, {"nvmlDeviceGetCount_v2"});
  find_function(r, api.device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find_function(r, api.device_by_pci, {"nvmlDeviceGetHandleByPciBusId_v2"});
  find_function(r, api.name, {"nvmlDeviceGetName"});
  find_function(r, api.uuid, {"nvmlDeviceGetUUID"});
  find_function(r, api.index, {"nvmlDeviceGetIndex"});
  find_function(r, api.pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find_function(r, api.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  find_function(r, api.cores, {"nvmlDeviceGetNumGpuCores"});
  find_function(r, api.numa_node, {"nvmlDeviceGetNumaNodeId"});
  find_function(r, api.persistence, {"nvmlDeviceGetPersistenceMode"});
  find_function(r, api.compute_mode, {"nvmlDeviceGetComputeMode"});
  find_function(r, api.mig_mode, {"nvmlDeviceGetMigMode"});
  find_function(r, api.mig_most, {"nvmlDeviceGetMaxMigDeviceCount"});
  find_function(r, api.mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find_function(r, api.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  find_function(r, api.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  find_function(r, api.attributes, {"nvmlDeviceGetAttributes_v2"});
}

void find_board(const Resolver& r, Api& api) {
  find_function(r, api.utilization, {"nvmlDeviceGetUtilizationRates"});
  find_function(r, api.encoder_utilization, {"nvmlDeviceGetEncoderUtilization"});
  find_function(r, api.decoder_utilization, {"nvmlDeviceGetDecoderUtilization"});
  find_function(r, api.memory, {"nvmlDeviceGetMemoryInfo"});
  find_function(r, api.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find_function(r, api.clock, {"nvmlDeviceGetClockInfo"});
  find_function(r, api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find_function(r, api.power, {"nvmlDeviceGetPowerUsage"});
  find_function(r, api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find_function(r, api.power_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find_function(r, api.power_limit_set, {"nvmlDeviceGetPowerManagementLimit"});
  find_function(r, api.set_power_limit, {"nvmlDeviceSetPowerManagementLimit"});
  find_function(r, api.power_limits, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  find_function(r, api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find_function(r, api.temperature, {"nvmlDeviceGetTemperature"});
  find_function(r, api.temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  find_function(r, api.fan, {"nvmlDeviceGetFanSpeed"});
  find_function(r, api.pstate, {"nvmlDeviceGetPerformanceState"});
  find_function(
      r, api.throttle_reasons,
      {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find_function(r, api.violation, {"nvmlDeviceGetViolationStatus"});
  find_function(r, api.field_values, {"nvmlDeviceGetFieldValues"});
  find_function(r, api.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find_function(r, api.pcie_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find_function(r, api.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find_function(r, api.pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find_function(r, api.pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  find_function(r, api.pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  find_function(r, api.nvlink_state, {"nvmlDeviceGetNvLinkState"});
  find_function(r, api.ecc_mode, {"nvmlDeviceGetEccMode"});
  find_function(r, api.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  find_function(r, api.licensable_features, {"nvmlDeviceGetGridLicensableFeatures_v4"});
  find_function(r, api.remapped_rows, {"nvmlDeviceGetRemappedRows"});
}

void find_activity(const Resolver& r, Api& api) {
  find_function(r, api.compute_v3, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  find_function(r, api.compute_v2, {"nvmlDeviceGetComputeRunningProcesses_v2"});
  find_function(r, api.compute_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  find_function(r, api.graphics_v3, {"nvmlDeviceGetGraphicsRunningProcesses_v3"});
  find_function(r, api.graphics_v2, {"nvmlDeviceGetGraphicsRunningProcesses_v2"});
  find_function(r, api.graphics_v1, {"nvmlDeviceGetGraphicsRunningProcesses"});
  find_function(r, api.process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find_function(r, api.event_set_create, {"nvmlEventSetCreate"});
  find_function(r, api.event_set_free, {"nvmlEventSetFree"});
  find_function(r, api.event_set_wait, {"nvmlEventSetWait_v2"});
  find_function(r, api.register_events, {"nvmlDeviceRegisterEvents"});
  find_function(r, api.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find_function(r, api.gpm_alloc, {"nvmlGpmSampleAlloc"});
  find_function(r, api.gpm_free, {"nvmlGpmSampleFree"});
  find_function(r, api.gpm_sample, {"nvmlGpmSampleGet"});
  find_function(r, api.gpm_mig_sample, {"nvmlGpmMigSampleGet"});
  find_function(r, api.gpm_metrics, {"nvmlGpmMetricsGet"});
}

}  // namespace

Api load_api(const Resolver& resolve) {
  Api api;
  find_identity(resolve, api);
  find_board(resolve, api);
  find_activity(resolve, api);
  return api;
}

base::Result<Library> open_nvml() {
  // WSL2 keeps its libraries in a folder that is not always on the search path.
  auto opened = open_first({"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"});
  if (opened == nullptr) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "the NVIDIA driver's library libnvidia-ml.so.1 is not here"});
  }
  Library library{.handle = std::move(opened)};
  library.api = load_api(symbols_of(library.handle));
  const Api& api = library.api;
  if (api.init == nullptr || api.shutdown == nullptr || api.device_count == nullptr ||
      api.device_by_index == nullptr) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "libnvidia-ml.so.1 lacks NVML's basic functions",
                       .advice = "Install the library that belongs to the NVIDIA driver"});
  }
  return library;
}

}  // namespace pyrometer::sources::nvml
