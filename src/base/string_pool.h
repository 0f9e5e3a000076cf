// Interned strings: each distinct text is stored once and named by a dense 32-bit id.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace pyrometer::base {

// Ids are dense from 0 in order of first use; id 0 is always the empty string. Views stay valid
// for the life of the pool (also across moves). Not thread-safe: one pool, one thread at a time.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  [[nodiscard]] std::uint32_t intern(std::string_view text);
  // The id of a text already interned, or kAbsent.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;
  [[nodiscard]] std::string_view view(std::uint32_t id) const { return views_[id]; }
  [[nodiscard]] std::size_t size() const { return views_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const;

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;

 private:
  void grow();
  [[nodiscard]] std::string_view store(std::string_view text);

  std::vector<std::string_view> views_;
  std::vector<std::uint64_t> hashes_;  // by id
  std::vector<std::uint32_t> slots_;   // open addressing, power of two, kAbsent = free
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace pyrometer::base
