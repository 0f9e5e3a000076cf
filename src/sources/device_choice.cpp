#include "sources/device_choice.h"

#include <algorithm>

#include "sources/pci.h"

namespace pyrometer::sources {

bool is_chosen(const std::vector<std::string>& wanted, const DeviceName& device) {
  if (wanted.empty()) return true;
  return std::ranges::any_of(wanted, [&](const std::string& text) {
    if (text.empty()) return false;
    if (device.is_mig) return text.starts_with("MIG-") && device.uuid.starts_with(text);
    if (text.starts_with("GPU-") || text.starts_with("NPU-")) return device.uuid.starts_with(text);
    if (text.find(':') != std::string::npos) return device.pci_id == kernel_pci_address(text);
    return text == std::to_string(device.index);
  });
}

}  // namespace pyrometer::sources
