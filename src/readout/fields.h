// Fields that can be asked for by name: those of nvidia-smi --query-gpu and dmon, and Pyrometer's
// metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readout/snapshot.h"

namespace pyrometer::readout {

// How a value is written.
enum class Form : std::uint8_t {
  kPlain,     // a number with `decimals`, or a text
  kPciId,     // with nvidia-smi's domain of eight digits
  kPstate,    // P0
  kMask,      // 0x0000000000000004
  kActive,    // Active, Not Active
  kEnabled,   // Enabled, Disabled
  kCompute,   // Default, Exclusive_Process, Prohibited
  kTime,      // of the snapshot
  kCount,     // GPUs shown
  kRanks,     // of the recorded processes on the GPU, separated by blanks
  kMeasured,  // as many digits as it takes: Pyrometer's own metrics
};

struct Field {
  std::string_view name;    // as asked for
  std::string_view header;  // as nvidia-smi heads its column
  std::string_view unit;    // empty: none
  MetricId metric = MetricId::kGpuIndex;
  double scale = 1;  // times a reading
  int decimals = 0;
  Form form = Form::kPlain;
};

// Nothing where no field is called so.
[[nodiscard]] std::optional<Field> find_field(std::string_view name);
// All names: nvidia-smi's first.
[[nodiscard]] std::vector<Field> all_fields();

// The value as text, without its unit; nothing where it is missing.
[[nodiscard]] std::optional<std::string> field_text(const Field& field, const Device& device,
                                                    const Snapshot& snapshot);

}  // namespace pyrometer::readout
