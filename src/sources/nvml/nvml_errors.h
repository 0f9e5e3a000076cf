// What NVML's return codes mean: for one reading, for one device, for the driver as a whole.
#pragma once

#include <string>

#include "base/result.h"
#include "sources/nvml/nvml_abi.h"
#include "sources/reading.h"

namespace pyrometer::sources::nvml {

// In words, from a table of our own: NVML's texts are gone once the library is closed.
[[nodiscard]] std::string_view return_text(Return code);

// Why a reading is missing after a call that returned `code` (not kSuccess).
[[nodiscard]] Gap gap_of(Return code);

// The device does not answer any more; others may.
[[nodiscard]] bool is_device_gone(Return code);
// NVML as a whole is out of order and has to be closed and opened again.
[[nodiscard]] bool is_driver_gone(Return code);

// Why NVML cannot be used, with what to do about it. `what`: "starting NVML".
[[nodiscard]] base::Error driver_error(std::string_view what, Return code);

}  // namespace pyrometer::sources::nvml
