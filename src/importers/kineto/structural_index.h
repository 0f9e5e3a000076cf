// Where the tokens of a piece of JSON begin: simdjson's first stage, without its second.
//
// simdjson finds every bracket, comma, colon and first byte of a string or scalar at about 8 GB/s,
// and checks UTF-8 and raw control characters on the way. The decoder then walks this list itself:
// On-Demand would visit every value of the events' args, of which we need few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pyrometer::importers::kineto {

class StructuralIndex {
 public:
  enum class Outcome : std::uint8_t {
    kSound,
    kInvalidUtf8,  // tokens() is right all the same
    kBroken,       // a string without end, or control characters in a string; no tokens
    kNoMemory,
  };

  StructuralIndex();
  StructuralIndex(const StructuralIndex&) = delete;
  StructuralIndex& operator=(const StructuralIndex&) = delete;
  ~StructuralIndex();

  // Indexes data[0, size). 64 bytes after it must be readable; size < 4 GB.
  [[nodiscard]] Outcome build(const char* data, std::size_t size);

  // Offsets of the tokens, ascending. One more entry, `size`, lies readable behind the last.
  [[nodiscard]] std::span<const std::uint32_t> tokens() const { return tokens_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::span<const std::uint32_t> tokens_;
};

}  // namespace pyrometer::importers::kineto
