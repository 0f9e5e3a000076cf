// The devices that NVML shows, with numbers that stay theirs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sources/nvml/nvml_device.h"

namespace pyrometer::sources::nvml {

// Whether a device is among those asked for. `wanted` holds UUIDs or their beginnings ("GPU-…",
// "MIG-…"), PCI addresses, or NVML's numbers; empty: all.
[[nodiscard]] bool is_wanted(const std::vector<std::string>& wanted, const Device& device);

// Gives every device a number for good: by UUID, or by PCI address as long as the UUID is unknown.
class DeviceNumbers {
 public:
  [[nodiscard]] std::int32_t number_of(const Device& device);

 private:
  struct Known {
    std::string uuid, pci_id;
  };
  std::vector<Known> known_;
};

struct DeviceList {
  Return code = kSuccess;       // of counting the devices
  std::uint32_t shown = 0;      // GPUs that NVML counts
  std::uint32_t denied = 0;     // of which this process may not use
  std::vector<Device> devices;  // those wanted, MIG instances after their GPU
};

// Asks NVML for its devices. One that is lost or suspended is in the list, marked.
[[nodiscard]] DeviceList list_devices(const Api& api, const std::vector<std::string>& wanted,
                                      const std::string& root);

// Whether MIG mode and the number of instances are still as they were.
[[nodiscard]] bool is_mig_unchanged(const Api& api, const Device& device);

// Tries to get a lost device's handle again. True where the device answers.
[[nodiscard]] bool find_again(const Api& api, Device& device);

}  // namespace pyrometer::sources::nvml
