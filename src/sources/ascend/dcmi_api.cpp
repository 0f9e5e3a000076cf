#include "sources/ascend/dcmi_api.h"

#include <utility>

namespace pyrometer::sources::ascend {

Api load_api(const Resolver& resolve) {
  Api api;
  find_function(resolve, api.init, {"dcmi_init"});
  find_function(resolve, api.card_list, {"dcmi_get_card_list"});
  find_function(resolve, api.device_count, {"dcmi_get_device_num_in_card"});
  find_function(resolve, api.device_ids, {"dcmi_get_device_id_in_card"});
  find_function(resolve, api.logic_id, {"dcmi_get_device_logic_id"});
  find_function(resolve, api.driver_version, {"dcmi_get_driver_version"});
  find_function(resolve, api.chip_info_v2, {"dcmi_get_device_chip_info_v2"});
  find_function(resolve, api.chip_info, {"dcmi_get_device_chip_info"});
  find_function(resolve, api.pcie_info, {"dcmi_get_device_pcie_info_v2"});
  find_function(resolve, api.die_id, {"dcmi_get_device_die_v2"});
  find_function(resolve, api.utilization, {"dcmi_get_device_utilization_rate"});
  find_function(resolve, api.hbm_info, {"dcmi_get_device_hbm_info"});
  find_function(resolve, api.memory_info, {"dcmi_get_device_memory_info_v3"});
  find_function(resolve, api.power, {"dcmi_get_device_power_info"});
  find_function(resolve, api.temperature, {"dcmi_get_device_temperature"});
  find_function(resolve, api.frequency, {"dcmi_get_device_frequency"});
  find_function(resolve, api.health, {"dcmi_get_device_health"});
  find_function(resolve, api.error_codes, {"dcmi_get_device_errorcode_v2"});
  find_function(resolve, api.ecc_info, {"dcmi_get_device_ecc_info"});
  find_function(resolve, api.processes, {"dcmi_get_device_resource_info"});
  return api;
}

base::Result<Library> open_dcmi() {
  auto opened = open_first({"libdcmi.so", "/usr/local/dcmi/libdcmi.so"});
  if (opened == nullptr) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "the Ascend driver's library libdcmi.so is not here",
                       .advice = "Install the Ascend driver, or make its library visible here"});
  }
  Library library{.handle = std::move(opened)};
  library.api = load_api(symbols_of(library.handle));
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
