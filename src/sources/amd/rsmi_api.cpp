#include "sources/amd/rsmi_api.h"

#include <utility>

namespace pyrometer::sources::amd {
namespace {

std::string hex(std::uint64_t number, int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[number >> (4 * i) & 0xF];
  return text;
}

}  // namespace

RsmiApi load_rsmi(const std::function<void*(const char*)>& resolve) {
  RsmiApi api;
  find_function(resolve, api.init, {"rsmi_init"});
  find_function(resolve, api.shut_down, {"rsmi_shut_down"});
  find_function(resolve, api.device_count, {"rsmi_num_monitor_devices"});
  find_function(resolve, api.pci_id, {"rsmi_dev_pci_id_get"});
  find_function(resolve, api.energy, {"rsmi_dev_energy_count_get"});
  find_function(resolve, api.ecc_count, {"rsmi_dev_ecc_count_get"});
  return api;
}

base::Result<RsmiLibrary> open_rsmi() {
  auto opened = open_first({"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                            "librocm_smi64.so.1", "/opt/rocm/lib/librocm_smi64.so"});
  if (opened == nullptr) {
    return base::fail(
        {.kind = base::ErrorKind::kNotFound, .message = "ROCm SMI (librocm_smi64.so) is not here"});
  }
  RsmiLibrary library{.handle = std::move(opened)};
  library.api = load_rsmi(symbols_of(library.handle));
  const RsmiApi& api = library.api;
  if (api.init == nullptr || api.shut_down == nullptr || api.device_count == nullptr ||
      api.pci_id == nullptr) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "librocm_smi64.so lacks ROCm SMI's basic functions"});
  }
  return library;
}

std::string rsmi_address(std::uint64_t pci_id) {
  // Newer releases keep the number of a partition in bits 28 to 31.
  return hex(pci_id >> 32 & 0xFFFF, 4) + ":" + hex(pci_id >> 8 & 0xFF, 2) + ":" +
         hex(pci_id >> 3 & 0x1F, 2) + "." + hex(pci_id & 7, 1);
}

}  // namespace pyrometer::sources::amd
