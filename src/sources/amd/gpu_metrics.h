// The table of measurements that amdgpu hands out whole, in a file called gpu_metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pyrometer::sources::amd {

// Why clocks are held down, in the terms that are the same for all chips.
struct ThrottleBits {
  bool power = false;
  bool current = false;
  bool thermal = false;
  bool hot_regulator = false;  // the board's regulators, or an alarm from outside
};

struct GpuMetrics {
  // Why nothing could be read; empty: it could.
  std::string_view refused;
  unsigned format = 0, content = 0;  // revisions; together the version of the table

  // Nothing where this version does not have it or the driver left it open.
  std::optional<double> busy, memory_busy;  // fractions
  std::optional<double> celsius_hotspot, celsius_memory;
  std::optional<std::uint64_t> energy_ticks;  // of kJoulesPerTick
  std::optional<std::uint64_t> pcie_replays;
  std::optional<std::uint64_t> xgmi_read_kib, xgmi_written_kib;  // all links, since start
  std::optional<ThrottleBits> throttle;
};

inline constexpr double kJoulesPerTick = 15.259e-6;

// `bytes` is the file's content. Tables that are not known in all particulars are refused: the
// layouts of two versions have little in common.
[[nodiscard]] GpuMetrics parse_gpu_metrics(std::string_view bytes);

}  // namespace pyrometer::sources::amd
