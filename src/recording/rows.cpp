#include "recording/rows.h"

#include <array>

namespace pyrometer::recording {

const char* range_type_name(RangeType type) {
  static constexpr std::array<const char*, kRangeTypes> kNames = {
      "user",       "step",       "input",     "optimizer", "forward", "backward",
      "checkpoint", "validation", "compile",   "gc",        "logging", "loader_start",
      "epoch",      "sync_call",  "zero_grad", "profiler"};
  const auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : "unknown";
}

bool is_pause(RangeType type) {
  switch (type) {
    case RangeType::kCheckpoint:
    case RangeType::kValidation:
    case RangeType::kCompile:
    case RangeType::kGc:
    case RangeType::kLogging:
    case RangeType::kLoaderStart:
    case RangeType::kUser:
      return true;
    default:
      return false;
  }
}

}  // namespace pyrometer::recording
