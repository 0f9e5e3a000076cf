// The variables by which a program is told which GPUs it may see.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readout/snapshot.h"

namespace pyrometer::readout {

enum class Runtime : std::uint8_t { kCuda, kRocm, kAscend };

// By the GPU's maker. Made-up GPUs pass for NVIDIA's.
[[nodiscard]] Runtime runtime_of(const Device& device);
// "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES".
[[nodiscard]] std::string_view variable_of(Runtime runtime);

// The value of a variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Which devices of the snapshot, which holds all GPUs, a program would see in this environment; for
// the others the variable that hides them. As many as the snapshot has devices; "": seen.
[[nodiscard]] std::vector<std::string> hidden_by(const Snapshot& snapshot,
                                                 const Environment& environment);

enum class Ids : std::uint8_t { kAuto, kUuid, kIndex };

// How to tell a program which devices to use.
struct Grant {
  std::string value;                                        // of the runtime's variable
  std::vector<std::pair<std::string, std::string>> to_set;  // all variables, that one first
};

// `devices` are positions in the snapshot, all of one runtime. kAuto takes numbers where these mean
// the same to the program for sure (`with_order`: it is also given CUDA_DEVICE_ORDER), since some
// programs take nothing else; UUIDs otherwise, and for MIG instances in any case. Ascend has
// numbers only.
[[nodiscard]] Grant grant(const Snapshot& snapshot, const std::vector<std::size_t>& devices,
                          Ids ids, bool with_order);

}  // namespace pyrometer::readout
