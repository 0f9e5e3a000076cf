// The keys and categories of Kineto events, told apart by length and bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "importers/kineto/rows.h"

namespace pyrometer::importers::kineto {

enum class EventKey : std::uint8_t {
  kOther,
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTime,
  kDuration,
  kArgs
};

[[nodiscard]] inline EventKey event_key(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return EventKey::kPhase;
      if (key == "ts") return EventKey::kTime;
      break;
    case 3:
      if (key == "cat") return EventKey::kCategory;
      if (key == "pid") return EventKey::kPid;
      if (key == "tid") return EventKey::kTid;
      if (key == "dur") return EventKey::kDuration;
      break;
    case 4:
      if (key == "name") return EventKey::kName;
      if (key == "args") return EventKey::kArgs;
      break;
    default:
      break;
  }
  return EventKey::kOther;
}

enum class ArgKey : std::uint8_t {
  kOther,
  kCorrelation,
  kDevice,
  kStream,
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kOccupancy,
  kGraphNode,
  kBytes,
  kCopyKind,
  kInputDims,
  kInputType,
  kCollective,
  kInElements,
  kOutElements,
  kDtype,
  kGroupSize,
  kGroupName,
  kGroupRanks,
  kSequence,
  kTotalAllocated,
  kTotalReserved,
  kDeviceType,
  kDeviceId,
  kName,
};

[[nodiscard]] ArgKey arg_key(std::string_view key);
[[nodiscard]] Category category_of(std::string_view text);

}  // namespace pyrometer::importers::kineto
