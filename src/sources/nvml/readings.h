// What is read of a device, by how often.
#pragma once

#include "sources/nvml/nvml_device.h"

namespace pyrometer::sources::nvml {

// Cheap and changing: utilisation, memory, clocks, power, temperature, throttling, hardware
// counters (not where `brief`).
void read_fast(DeviceReader& reader, bool brief);
// Of the slow ones those that cost next to nothing: power limit and fan.
void read_limits(DeviceReader& reader);
// Costly (milliseconds a call) or slow to change: energy, links, errors, limits. `may_block`: the
// PCIe traffic may be measured by the call that takes 40 ms where there is no other way.
void read_slow(DeviceReader& reader, bool may_block);
// What the device is. Also after it came back. `brief`: only what a table of GPUs shows or is
// chosen by.
void read_once(DeviceReader& reader, bool brief);

// gpm.cpp: mean activity since the last call. Never waits: samples less than 100 ms apart are left
// for the next call.
void read_gpm(DeviceReader& reader);
void free_gpm(const Api& api, Device& device);

// links.cpp
void read_traffic(DeviceReader& reader, bool may_block);
void read_nvlinks(DeviceReader& reader);

}  // namespace pyrometer::sources::nvml
