#include "ring/intern_table.h"

#include <sched.h>

#include <cstring>

namespace pyrometer::ring {
namespace {

// Eight bytes at a time: kernel names are hundreds of bytes long, and each kernel record is looked
// up by its name.
std::uint32_t hash_bytes(const char* bytes, std::size_t length) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = length * kMultiplier;
  while (length >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
    bytes += sizeof word;
    length -= sizeof word;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, length);
  hash = (hash ^ word) * kMultiplier;
  hash ^= hash >> 29;
  hash *= kMultiplier;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

void InternTable::init(void* memory, std::uint32_t slots, std::size_t arena_bytes, Define define,
                       void* context) {
  entries_ = static_cast<Entry*>(memory);
  arena_ = static_cast<char*>(memory) + slots * sizeof(Entry);
  slots_ = slots;
  arena_bytes_ = arena_bytes;
  define_ = define;
  context_ = context;
}

std::uint32_t InternTable::intern(const char* bytes, std::size_t length, bool* full) {
  const std::uint32_t hash = hash_bytes(bytes, length);
  std::uint32_t free_slot = 0;
  Entry* entry = find(hash, bytes, length, &free_slot);
  if (entry != nullptr && entry->defined.load(std::memory_order_acquire)) {
    return static_cast<std::uint32_t>(entry->key.load(std::memory_order_relaxed));
  }
  lock();
  if (entry == nullptr) {
    entry = insert(hash, bytes, length);
  }
  *full = entry == nullptr;
  const std::uint32_t id = entry == nullptr ? 0 : define(*entry);
  unlock();
  return id;
}

InternTable::Entry* InternTable::find(std::uint32_t hash, const char* bytes, std::size_t length,
                                      std::uint32_t* free_slot) {
  // A quarter of the slots stays free, so that this ends.
  for (std::uint32_t slot = hash & (slots_ - 1);; slot = (slot + 1) & (slots_ - 1)) {
    Entry& entry = entries_[slot];
    const std::uint64_t key = entry.key.load(std::memory_order_acquire);
    if (key == 0) {
      *free_slot = slot;
      return nullptr;
    }
    if (static_cast<std::uint32_t>(key >> 32) == hash && entry.length == length &&
        std::memcmp(arena_ + entry.offset, bytes, length) == 0) {
      return &entry;
    }
  }
}

// Under the lock. Another thread may have come first.
InternTable::Entry* InternTable::insert(std::uint32_t hash, const char* bytes, std::size_t length) {
  std::uint32_t free_slot = 0;
  if (Entry* known = find(hash, bytes, length, &free_slot); known != nullptr) {
    return known;
  }
  if (count_ >= slots_ / 4 * 3 || length > arena_bytes_ - arena_used_) {
    return nullptr;
  }
  Entry& entry = entries_[free_slot];
  std::memcpy(arena_ + arena_used_, bytes, length);
  entry.offset = static_cast<std::uint32_t>(arena_used_);
  entry.length = static_cast<std::uint32_t>(length);
  arena_used_ += length;
  ++count_;
  entry.key.store(std::uint64_t{hash} << 32 | count_, std::memory_order_release);
  return &entry;
}

// Under the lock.
std::uint32_t InternTable::define(Entry& entry) {
  const auto id = static_cast<std::uint32_t>(entry.key.load(std::memory_order_relaxed));
  if (!entry.defined.load(std::memory_order_relaxed)) {
    if (!define_(context_, id, arena_ + entry.offset, entry.length)) {
      return 0;
    }
    entry.defined.store(true, std::memory_order_release);
  }
  return id;
}

// A spinning lock needs nothing of libpthread. It is held for microseconds, when a name is new.
void InternTable::lock() {
  while (locked_.exchange(true, std::memory_order_acquire)) {
    ::sched_yield();
  }
}

void InternTable::unlock() { locked_.store(false, std::memory_order_release); }

}  // namespace pyrometer::ring
