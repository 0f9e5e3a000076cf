// Which devices are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pyrometer::sources {

struct DeviceName {
  std::int64_t index = -1;  // the driver's number
  std::string uuid;         // "GPU-…", "MIG-…", "NPU-…"; empty: unknown
  std::string pci_id;       // "0000:3b:00.0"; empty: unknown
  bool is_mig = false;      // an instance: only its own UUID names it
};

// `wanted` holds UUIDs or their beginnings ("GPU-…", "MIG-…", "NPU-…"), PCI addresses, or the
// driver's numbers; empty: all.
[[nodiscard]] bool is_chosen(const std::vector<std::string>& wanted, const DeviceName& device);

}  // namespace pyrometer::sources
