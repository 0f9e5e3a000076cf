// Byte strings to dense ids, for the writer's side: bounded, without allocation after creation,
// safe from many threads. Looking up what is known takes no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyrometer::ring {

class InternTable {
 public:
  // Where a new entry's definition goes. False: not now (the ring is full), it will be asked again
  // when the entry is next used. Called under the table's lock: it must not use the table.
  using Define = bool (*)(void* context, std::uint32_t id, const char* bytes, std::size_t length);

  // Memory that `init` needs, zeroed.
  static constexpr std::size_t memory_needed(std::uint32_t slots, std::size_t arena_bytes) {
    return slots * sizeof(Entry) + arena_bytes;
  }

  // `slots`: a power of two; three quarters of them are used at most. `memory` outlives the table.
  void init(void* memory, std::uint32_t slots, std::size_t arena_bytes, Define define,
            void* context);

  // The id of these bytes, from 1 on. 0: there is no room for more, or the definition could not be
  // written; an id that is returned has been defined before. `full` becomes true in the first case,
  // of which `Define` does not hear.
  std::uint32_t intern(const char* bytes, std::size_t length, bool* full);

 private:
  struct Entry {
    std::atomic<std::uint64_t> key;  // hash in the high half, id in the low one; 0: free
    std::uint32_t offset;
    std::uint32_t length;
    std::atomic<bool> defined;
  };

  Entry* find(std::uint32_t hash, const char* bytes, std::size_t length, std::uint32_t* free_slot);
  Entry* insert(std::uint32_t hash, const char* bytes, std::size_t length);
  std::uint32_t define(Entry& entry);
  void lock();
  void unlock();

  Entry* entries_ = nullptr;
  char* arena_ = nullptr;
  std::uint32_t slots_ = 0;
  std::size_t arena_bytes_ = 0;
  std::size_t arena_used_ = 0;
  std::uint32_t count_ = 0;
  Define define_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> locked_{false};
};

}  // namespace pyrometer::ring
