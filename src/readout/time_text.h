// Wall-clock times in words.
#pragma once

#include <cstdint>
#include <string>

namespace pyrometer::readout {

// "2026-12-01T02:06:26.123Z"
[[nodiscard]] std::string utc_text(std::int64_t unix_ms);
// "2026-12-01 02:06:26", local time.
[[nodiscard]] std::string local_text(std::int64_t unix_ms);
// "2026/12/01 02:06:26.123", local time: as nvidia-smi writes it.
[[nodiscard]] std::string smi_time_text(std::int64_t unix_ms);

}  // namespace pyrometer::readout
