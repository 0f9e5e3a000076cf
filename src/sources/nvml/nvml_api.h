// NVML's functions, found at run time. Tests put their own in their place.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "sources/nvml/nvml_abi.h"
#include "sources/vendor_library.h"

namespace pyrometer::sources::nvml {

// A null pointer: this library does not have the function. Names are NVML's without their prefix.
struct Api {
  using Number32 = Return (*)(Handle, std::uint32_t*);
  using Number64 = Return (*)(Handle, std::uint64_t*);
  using Pair32 = Return (*)(Handle, std::uint32_t*, std::uint32_t*);
  using Indexed32 = Return (*)(Handle, std::uint32_t, std::uint32_t*);
  using Text = Return (*)(Handle, char*, std::uint32_t);
  using SystemText = Return (*)(char*, std::uint32_t);
  using ByIndex = Return (*)(Handle, std::uint32_t, Handle*);

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  SystemText driver_version = nullptr;
  SystemText nvml_version = nullptr;
  Return (*cuda_version)(int*) = nullptr;

  Return (*device_count)(std::uint32_t*) = nullptr;
  Return (*device_by_index)(std::uint32_t, Handle*) = nullptr;
  Return (*device_by_pci)(const char*, Handle*) = nullptr;
  Text name = nullptr;
  Text uuid = nullptr;
  Number32 index = nullptr;
  Return (*pci_info)(Handle, PciInfo*) = nullptr;
  Return (*compute_capability)(Handle, int*, int*) = nullptr;
  Number32 cores = nullptr;
  Number32 numa_node = nullptr;
  Number32 persistence = nullptr;
  Number32 compute_mode = nullptr;

  Return (*utilization)(Handle, Utilization*) = nullptr;
  Pair32 encoder_utilization = nullptr;
  Pair32 decoder_utilization = nullptr;
  Return (*memory)(Handle, Memory*) = nullptr;
  Return (*memory_v2)(Handle, MemoryV2*) = nullptr;
  Indexed32 clock = nullptr;
  Indexed32 max_clock = nullptr;
  Number32 power = nullptr;
  Number32 power_limit = nullptr;
  Number32 power_limit_default = nullptr;
  Number32 power_limit_set = nullptr;  // that somebody set; the enforced one may be lower
  Return (*set_power_limit)(Handle, std::uint32_t) = nullptr;
  Pair32 power_limits = nullptr;
  Number64 energy = nullptr;
  Indexed32 temperature = nullptr;
  Indexed32 temperature_threshold = nullptr;
  Number32 fan = nullptr;
  Number32 pstate = nullptr;
  Number64 throttle_reasons = nullptr;
  Return (*violation)(Handle, std::uint32_t, ViolationTime*) = nullptr;

  Number32 pcie_generation = nullptr;
  Number32 pcie_generation_max = nullptr;
  Number32 pcie_width = nullptr;
  Number32 pcie_width_max = nullptr;
  Number32 pcie_replays = nullptr;
  Indexed32 pcie_throughput = nullptr;  // blocks for 20 ms
  Indexed32 nvlink_state = nullptr;
  Return (*field_values)(Handle, int, FieldValue*) = nullptr;

  Pair32 ecc_mode = nullptr;
  Return (*ecc_errors)(Handle, std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  Return (*remapped_rows)(Handle, std::uint32_t*, std::uint32_t*, std::uint32_t*,
                          std::uint32_t*) = nullptr;
  Return (*licensable_features)(Handle, LicensableFeatures*) = nullptr;

  // The buffer holds ProcessInfoV1 for compute_v1, else ProcessInfoV2 or, on some R535 drivers,
  // ProcessDetail.
  Return (*compute_v3)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*compute_v2)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*compute_v1)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*graphics_v3)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*graphics_v2)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*graphics_v1)(Handle, std::uint32_t*, void*) = nullptr;
  Return (*process_utilization)(Handle, ProcessUtilization*, std::uint32_t*,
                                std::uint64_t) = nullptr;

  Return (*event_set_create)(EventSet*) = nullptr;
  Return (*event_set_free)(EventSet) = nullptr;
  Return (*event_set_wait)(EventSet, EventData*, std::uint32_t) = nullptr;
  Return (*register_events)(Handle, std::uint64_t, EventSet) = nullptr;

  Pair32 mig_mode = nullptr;
  Number32 mig_most = nullptr;
  ByIndex mig_by_index = nullptr;
  Number32 gpu_instance = nullptr;
  Number32 compute_instance = nullptr;
  Return (*attributes)(Handle, DeviceAttributes*) = nullptr;

  Return (*gpm_support)(Handle, GpmSupport*) = nullptr;
  Return (*gpm_alloc)(GpmSample*) = nullptr;
  Return (*gpm_free)(GpmSample) = nullptr;
  Return (*gpm_sample)(Handle, GpmSample) = nullptr;
  Return (*gpm_mig_sample)(Handle, std::uint32_t, GpmSample) = nullptr;
  Return (*gpm_metrics)(GpmMetricsGet*) = nullptr;
};

// Calls one of NVML's functions; one that the library lacks counts as kFunctionNotFound.
template <typename Function, typename... Arguments>
[[nodiscard]] Return call(Function* function, Arguments... arguments) {
  return function == nullptr ? kFunctionNotFound : function(arguments...);
}

[[nodiscard]] Api load_api(const Resolver& resolve);

// The library as long as it is open.
struct Library {
  Api api;
  std::shared_ptr<void> handle;  // several parts of a source use it; the last one closes it
};
using Opener = std::function<base::Result<Library>()>;

// Opens libnvidia-ml.so.1 anew each time: after a driver reload there is another one.
// Errors: kNotFound, kUnsupported (a library that is not NVML).
[[nodiscard]] base::Result<Library> open_nvml();

}  // namespace pyrometer::sources::nvml
