// Host threads of one decoder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/kineto/rows.h"

namespace pyrometer::importers::kineto {

class LocalThreads {
 public:
  // Both as the trace gives them. A thread whose tid is the text "7" is the thread with number 7.
  [[nodiscard]] LocalId intern(std::int64_t pid, std::int64_t tid) {
    Slot& slot =
        slots_[(static_cast<std::uint64_t>(tid) ^ static_cast<std::uint64_t>(pid) * 31) % kSlots];
    if (slot.id != kFree && slot.pid == pid && slot.tid == tid) return slot.id;
    slot = {pid, tid, intern(pid, std::to_string(tid))};
    return slot.id;
  }
  [[nodiscard]] LocalId intern(std::int64_t pid, std::string_view tid);

  // Appends the threads of the ids that are new since the last call.
  void take_new(std::vector<LocalThread>& out);

 private:
  static constexpr std::size_t kSlots = 64;
  static constexpr LocalId kFree = 0xFFFFFFFFU;
  struct Slot {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    LocalId id = kFree;
  };
  std::array<Slot, kSlots> slots_{};  // in front of the map, which is only asked for new threads
  std::unordered_map<std::string, LocalId> ids_;
  std::vector<LocalThread> new_;
};

}  // namespace pyrometer::importers::kineto
