#include "sources/ascend/dcmi_api.h"

#include <dlfcn.h>

#include <type_traits>

namespace pyrometer::sources::ascend {

Api load_api(const Resolver& resolve) {
  Api api;
  const auto find = [&resolve](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(resolve(name));
  };
  find(api.init, "dcmi_init");
  find(api.card_list, "dcmi_get_card_list");
  find(api.device_count, "dcmi_get_device_num_in_card");
  find(api.device_ids, "dcmi_get_device_id_in_card");
  find(api.logic_id, "dcmi_get_device_logic_id");
  find(api.driver_version, "dcmi_get_driver_version");
  find(api.chip_info_v2, "dcmi_get_device_chip_info_v2");
  find(api.chip_info, "dcmi_get_device_chip_info");
  find(api.pcie_info, "dcmi_get_device_pcie_info_v2");
  find(api.die_id, "dcmi_get_device_die_v2");
  find(api.utilization, "dcmi_get_device_utilization_rate");
  find(api.hbm_info, "dcmi_get_device_hbm_info");
  find(api.memory_info, "dcmi_get_device_memory_info_v3");
  find(api.power, "dcmi_get_device_power_info");
  find(api.temperature, "dcmi_get_device_temperature");
  find(api.frequency, "dcmi_get_device_frequency");
  find(api.health, "dcmi_get_device_health");
  find(api.error_codes, "dcmi_get_device_errorcode_v2");
  find(api.ecc_info, "dcmi_get_device_ecc_info");
  find(api.processes, "dcmi_get_device_resource_info");
  return api;
}

base::Result<Library> open_dcmi() {
  void* opened = nullptr;
  for (const char* name : {"libdcmi.so", "/usr/local/dcmi/libdcmi.so"}) {
    opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) break;
  }
  if (opened == nullptr) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "the Ascend driver's library libdcmi.so is not here",
                       .advice = "Install the Ascend driver, or make its library visible here"});
  }
  Library library{.handle = std::shared_ptr<void>(opened, [](void* it) { dlclose(it); })};
  library.api = load_api([opened](const char* symbol) { return dlsym(opened, symbol); });
  if (library.api.init == nullptr || library.api.card_list == nullptr) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "libdcmi.so lacks DCMI's basic functions",
                       .advice = "Install a newer Ascend driver"});
  }
  return library;
}

Gap gap_of(Return code) {
  switch (code) {
    case kFunctionNotFound:
      return {Absence::kNotSupported, "needs a newer Ascend driver"};
    case kNotSupported:
    case kInvalidParameter:  // what the chip does not have
      return {Absence::kNotSupported, {}};
    case kNotInContainer:
      return {Absence::kNotSupported, "DCMI does not tell it in a container"};
    case kNotPermitted:
      return {Absence::kNoPermission, {}};
    case kInvalidDevice:
    case kNoDevice:
      return {Absence::kDeviceLost, {}};
    case kNotReady:
    case kUpgrading:
      return {Absence::kNotAvailable, "the device is not ready"};
    case kTimeout:
      return {Absence::kFailed, "the device did not answer in time"};
    default:
      return {Absence::kFailed, {}};
  }
}

bool is_device_gone(Return code) { return code == kNoDevice || code == kInvalidDevice; }

}  // namespace pyrometer::sources::ascend
