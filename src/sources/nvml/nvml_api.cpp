#include "sources/nvml/nvml_api.h"

#include <dlfcn.h>

#include <initializer_list>

namespace pyrometer::sources::nvml {
namespace {

// The first of these symbols that the library has.
template <typename Function>
void find(const Resolver& resolve, Function*& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* address = resolve(name)) {
      function = reinterpret_cast<Function*>(address);
      return;
    }
  }
}

void find_identity(const Resolver& r, Api& api) {
  find(r, api.init, {"nvmlInit_v2"});
  find(r, api.shutdown, {"nvmlShutdown"});
  find(r, api.driver_version, {"nvmlSystemGetDriverVersion"});
  find(r, api.nvml_version, {"nvmlSystemGetNVMLVersion"});
  find(r, api.cuda_version,
       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find(r, api.device_count, {"nvmlDeviceGetCount_v2"});
  find(r, api.device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(r, api.device_by_pci, {"nvmlDeviceGetHandleByPciBusId_v2"});
  find(r, api.name, {"nvmlDeviceGetName"});
  find(r, api.uuid, {"nvmlDeviceGetUUID"});
  find(r, api.index, {"nvmlDeviceGetIndex"});
  find(r, api.pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find(r, api.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  find(r, api.cores, {"nvmlDeviceGetNumGpuCores"});
  find(r, api.numa_node, {"nvmlDeviceGetNumaNodeId"});
  find(r, api.persistence, {"nvmlDeviceGetPersistenceMode"});
  find(r, api.compute_mode, {"nvmlDeviceGetComputeMode"});
  find(r, api.mig_mode, {"nvmlDeviceGetMigMode"});
  find(r, api.mig_most, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(r, api.mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(r, api.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  find(r, api.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  find(r, api.attributes, {"nvmlDeviceGetAttributes_v2"});
}

void find_board(const Resolver& r, Api& api) {
  find(r, api.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(r, api.encoder_utilization, {"nvmlDeviceGetEncoderUtilization"});
  find(r, api.decoder_utilization, {"nvmlDeviceGetDecoderUtilization"});
  find(r, api.memory, {"nvmlDeviceGetMemoryInfo"});
  find(r, api.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(r, api.clock, {"nvmlDeviceGetClockInfo"});
  find(r, api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(r, api.power, {"nvmlDeviceGetPowerUsage"});
  find(r, api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(r, api.power_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(r, api.power_limits, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  find(r, api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(r, api.temperature, {"nvmlDeviceGetTemperature"});
  find(r, api.temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  find(r, api.fan, {"nvmlDeviceGetFanSpeed"});
  find(r, api.pstate, {"nvmlDeviceGetPerformanceState"});
  find(r, api.throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(r, api.violation, {"nvmlDeviceGetViolationStatus"});
  find(r, api.field_values, {"nvmlDeviceGetFieldValues"});
  find(r, api.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(r, api.pcie_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(r, api.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(r, api.pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(r, api.pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  find(r, api.pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  find(r, api.nvlink_state, {"nvmlDeviceGetNvLinkState"});
  find(r, api.ecc_mode, {"nvmlDeviceGetEccMode"});
  find(r, api.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  find(r, api.remapped_rows, {"nvmlDeviceGetRemappedRows"});
}

void find_activity(const Resolver& r, Api& api) {
  find(r, api.compute_v3, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  find(r, api.compute_v2, {"nvmlDeviceGetComputeRunningProcesses_v2"});
  find(r, api.compute_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  find(r, api.graphics_v3, {"nvmlDeviceGetGraphicsRunningProcesses_v3"});
  find(r, api.graphics_v2, {"nvmlDeviceGetGraphicsRunningProcesses_v2"});
  find(r, api.graphics_v1, {"nvmlDeviceGetGraphicsRunningProcesses"});
  find(r, api.process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find(r, api.event_set_create, {"nvmlEventSetCreate"});
  find(r, api.event_set_free, {"nvmlEventSetFree"});
  find(r, api.event_set_wait, {"nvmlEventSetWait_v2"});
  find(r, api.register_events, {"nvmlDeviceRegisterEvents"});
  find(r, api.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(r, api.gpm_alloc, {"nvmlGpmSampleAlloc"});
  find(r, api.gpm_free, {"nvmlGpmSampleFree"});
  find(r, api.gpm_sample, {"nvmlGpmSampleGet"});
  find(r, api.gpm_mig_sample, {"nvmlGpmMigSampleGet"});
  find(r, api.gpm_metrics, {"nvmlGpmMetricsGet"});
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
  void* opened = nullptr;
  // WSL2 keeps its libraries in a folder that is not always on the search path.
  for (const char* name : {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) break;
  }
  if (opened == nullptr) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "the NVIDIA driver's library libnvidia-ml.so.1 is not here"});
  }
  Library library{.handle = std::shared_ptr<void>(opened, [](void* handle) { dlclose(handle); })};
  library.api = load_api([opened](const char* symbol) { return dlsym(opened, symbol); });
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
