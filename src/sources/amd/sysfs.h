// What amdgpu's files in /sys say, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources::amd {

// A table of clock levels ("1: 2100Mhz *"): the one in use and the highest, MHz.
struct ClockLevels {
  std::optional<double> current, highest;
};
[[nodiscard]] ClockLevels parse_clock_levels(std::string_view text);

// "16.0 GT/s PCIe" is generation 4.
[[nodiscard]] std::optional<int> pcie_generation_of(std::string_view speed);

// "ue: 0\nce: 3\n": errors that could not be corrected, and those that were.
struct ErrorCounts {
  std::uint64_t uncorrected = 0, corrected = 0;
};
[[nodiscard]] std::optional<ErrorCounts> parse_error_counts(std::string_view text);

// What the product is called: by the board itself, by the table that libdrm installs, or else by
// its PCI number. `folder` is the device's below /sys.
[[nodiscard]] std::string product_name(ProcReader& files, const std::string& folder);

// The hwmon folder of the device ("/sys/…/hwmon/hwmon3"); empty: there is none.
[[nodiscard]] std::string hwmon_folder(const std::string& root, const std::string& folder);

}  // namespace pyrometer::sources::amd
