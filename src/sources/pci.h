// PCI devices as /sys shows them. Nothing here wakes a device that is suspended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::sources {

struct PciDevice {
  std::string address;  // "0000:3b:00.0"
  unsigned vendor = 0;  // 0x10de: NVIDIA
  unsigned device = 0;
  unsigned class_code = 0;  // 0x030000 display, 0x030200 3D, 0x120000 accelerator
  std::string driver;       // bound to it: "nvidia", "nouveau"; empty: none
};

inline constexpr unsigned kVendorNvidia = 0x10de;
inline constexpr unsigned kVendorAmd = 0x1002;

// All display and accelerator devices, by address. Empty where /sys shows no PCI bus. `driver`,
// where it is not empty: those bound to it alone, without a look at the rest of the bus, which has
// hundreds of devices on a server.
[[nodiscard]] std::vector<PciDevice> list_graphics_devices(const std::string& root,
                                                           const std::string& driver = {});

// NVML's "00000000:3B:00.0" as the kernel writes it. What is no address stays as it is, in lower
// case.
[[nodiscard]] std::string kernel_pci_address(std::string_view address);

enum class SleepState : unsigned char {
  kNever,   // the kernel keeps it awake (or does not say)
  kAwake,   // may be suspended, is not
  kAsleep,  // suspended; asking the driver about it would wake it
};
[[nodiscard]] SleepState sleep_state(const std::string& root, const std::string& address);

}  // namespace pyrometer::sources
