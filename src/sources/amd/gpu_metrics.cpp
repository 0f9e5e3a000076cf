#include "sources/amd/gpu_metrics.h"

#include <cstring>

namespace pyrometer::sources::amd {
namespace {

constexpr std::size_t kNone = 0;  // no field lies in the header
constexpr int kLinks = 8;

// Where the fields lie in the tables, in bytes from the beginning; kNone: there is no such field.
struct Layout {
  unsigned format, content;
  std::size_t size;
  std::size_t hotspot, memory_celsius;
  std::size_t busy, memory_busy;
  std::size_t energy;
  std::size_t replays;
  std::size_t xgmi_read, xgmi_written;  // eight counters each
  std::size_t throttle;                 // the status that does not depend on the chip
};
// Energy is told in chip-dependent units before 1.4, and throttling in chip-dependent bits in what
// has none here. The tables of integrated GPUs (2.x) give temperatures and shares in units that
// depend on the chip, too.
constexpr Layout kLayouts[] = {
    {1, 1, 96, 6, 8, 16, 18, kNone, kNone, kNone, kNone, kNone},
    {1, 2, 104, 6, 8, 16, 18, kNone, kNone, kNone, kNone, kNone},
    {1, 3, 120, 6, 8, 16, 18, kNone, kNone, kNone, kNone, 112},
    {1, 4, 288, 4, 6, 12, 14, 24, 88, 104, 168, kNone},
    {1, 5, 360, 4, 6, 12, 14, 88, 152, 176, 240, kNone},
    {2, 1, 120, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone},
    {2, 2, 128, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, 120},
    {2, 3, 152, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, 120},
};

// A number of `T`; nothing where there is no field, or all its bits are set.
template <typename T>
std::optional<T> field(std::string_view bytes, std::size_t at) {
  if (at == kNone) return std::nullopt;
  T number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number == static_cast<T>(~T{0}) ? std::nullopt : std::optional(number);
}

std::optional<double> percent(std::string_view bytes, std::size_t at) {
  const auto number = field<std::uint16_t>(bytes, at);
  return number && *number <= 100 ? std::optional(*number / 100.0) : std::nullopt;
}

std::optional<double> celsius(std::string_view bytes, std::size_t at) {
  const auto number = field<std::uint16_t>(bytes, at);
  return number && *number > 0 && *number < 200 ? std::optional<double>(*number) : std::nullopt;
}

// Links that do not exist count nothing, or are left open.
std::optional<std::uint64_t> sum_of_links(std::string_view bytes, std::size_t at) {
  std::optional<std::uint64_t> sum;
  for (int link = 0; link < kLinks && at != kNone; ++link) {
    const auto number =
        field<std::uint64_t>(bytes, at + static_cast<std::size_t>(link) * sizeof(std::uint64_t));
    if (number) sum = sum.value_or(0) + *number;
  }
  return sum;
}

ThrottleBits throttle_of(std::uint64_t status) {
  const auto any = [status](unsigned first, unsigned last) {
    for (unsigned bit = first; bit <= last; ++bit) {
      if ((status >> bit & 1) != 0) return true;
    }
    return false;
  };
  return {.power = any(0, 7),
          .current = any(16, 23),
          .thermal = any(32, 43),
          .hot_regulator = any(44, 47)};
}

}  // namespace

GpuMetrics parse_gpu_metrics(std::string_view bytes) {
  GpuMetrics metrics;
  if (bytes.size() < 4) {
    metrics.refused = "gpu_metrics is cut short";
    return metrics;
  }
  std::uint16_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  metrics.format = static_cast<unsigned char>(bytes[2]);
  metrics.content = static_cast<unsigned char>(bytes[3]);
  for (const Layout& layout : kLayouts) {
    if (layout.format != metrics.format || layout.content != metrics.content) continue;
    if (size != layout.size || bytes.size() < size) {
      metrics.refused = "gpu_metrics has another size than its version has";
      return metrics;
    }
    metrics.busy = percent(bytes, layout.busy);
    metrics.memory_busy = percent(bytes, layout.memory_busy);
    metrics.celsius_hotspot = celsius(bytes, layout.hotspot);
    metrics.celsius_memory = celsius(bytes, layout.memory_celsius);
    metrics.energy_ticks = field<std::uint64_t>(bytes, layout.energy);
    metrics.pcie_replays = field<std::uint64_t>(bytes, layout.replays);
    metrics.xgmi_read_kib = sum_of_links(bytes, layout.xgmi_read);
    metrics.xgmi_written_kib = sum_of_links(bytes, layout.xgmi_written);
    if (const auto status = field<std::uint64_t>(bytes, layout.throttle)) {
      metrics.throttle = throttle_of(*status);
    }
    return metrics;
  }
  metrics.refused = "this version of gpu_metrics is not known";
  return metrics;
}

}  // namespace pyrometer::sources::amd
