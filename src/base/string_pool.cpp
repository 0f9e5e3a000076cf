#include "base/string_pool.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace pyrometer::base {
namespace {
constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kFirstSlots = 1024;
}  // namespace

StringPool::StringPool() : slots_(kFirstSlots, kAbsent) { (void)intern({}); }

std::uint32_t StringPool::intern(std::string_view text) {
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kAbsent) {
    const std::uint32_t id = slots_[slot];
    if (hashes_[id] == hash && views_[id] == text) return id;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const auto id = static_cast<std::uint32_t>(views_.size());
  views_.push_back(store(text));
  hashes_.push_back(hash);
  slots_[slot] = id;
  // Half full keeps probe chains short: most look-ups hit on the first slot.
  if (views_.size() * 2 > slots_.size()) grow();
  return id;
}

std::uint32_t StringPool::find(std::string_view text) const {
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kAbsent) {
    const std::uint32_t id = slots_[slot];
    if (hashes_[id] == hash && views_[id] == text) return id;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kAbsent;
}

std::size_t StringPool::memory_bytes() const {
  return bytes_ + views_.capacity() * sizeof(views_[0]) + hashes_.capacity() * sizeof(hashes_[0]) +
         slots_.capacity() * sizeof(slots_[0]);
}

void StringPool::grow() {
  std::vector<std::uint32_t> bigger(slots_.size() * 2, kAbsent);
  for (std::uint32_t id = 0; id < views_.size(); ++id) {
    std::size_t slot = hashes_[id] & (bigger.size() - 1);
    while (bigger[slot] != kAbsent) slot = (slot + 1) & (bigger.size() - 1);
    bigger[slot] = id;
  }
  slots_ = std::move(bigger);
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return {};
  if (blocks_.empty() || block_used_ + text.size() > block_size_) {
    block_size_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    bytes_ += block_size_;
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return {place, text.size()};
}

}  // namespace pyrometer::base
