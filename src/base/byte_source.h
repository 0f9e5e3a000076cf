// A stream of bytes: a file, a decompressed file, a member of an archive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pyrometer::base {

// Read once, from front to back. Not thread-safe.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills up to `size` bytes at `to` (at least one unless the input ends) and returns how many; 0
  // at the end. What lies before damage is delivered first: the error comes with the call that
  // could deliver nothing, and again with every later call.
  [[nodiscard]] virtual Result<std::size_t> read(char* to, std::size_t size) = 0;

  // Bytes that the whole stream will have, -1 when it cannot be known beforehand.
  [[nodiscard]] virtual std::int64_t size_hint() const { return -1; }

  // Whether reading is work for a core (decompression) that may be worth a thread of its own.
  [[nodiscard]] virtual bool is_costly() const { return false; }

  // What there is to say about the bytes read so far that is no damage, a clause each.
  virtual void collect_remarks(std::vector<std::string>& /*out*/) const {}

  // Moves to `offset` as lseek(2) does and returns the new place; -1 where that is not possible.
  [[nodiscard]] virtual std::int64_t seek(std::int64_t /*offset*/, int /*whence*/) { return -1; }
};

// Reads until `size` bytes are there or the input ends. An error is reported only when nothing was
// read before it.
[[nodiscard]] Result<std::size_t> read_fully(ByteSource& source, char* to, std::size_t size);

// Opens a file for reading; "-" is stdin. Errors: kNotFound, kPermission, kUsage (a folder), kIo.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// A source in memory, for tests and for prefixes that were read ahead. Copies `text`.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string text);

// A source that has nothing but an error to give.
[[nodiscard]] std::unique_ptr<ByteSource> failing_source(Error error);

// Looks at the first bytes of a source without consuming them.
class PeekSource final : public ByteSource {
 public:
  explicit PeekSource(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}
  // The first `size` bytes, fewer when the input is shorter. Call before the first read().
  [[nodiscard]] Result<std::string_view> peek(std::size_t size);
  [[nodiscard]] Result<std::size_t> read(char* to, std::size_t size) override;
  [[nodiscard]] std::int64_t size_hint() const override { return inner_->size_hint(); }
  [[nodiscard]] bool is_costly() const override { return inner_->is_costly(); }
  void collect_remarks(std::vector<std::string>& out) const override {
    inner_->collect_remarks(out);
  }
  [[nodiscard]] std::int64_t seek(std::int64_t offset, int whence) override;

 private:
  std::unique_ptr<ByteSource> inner_;
  std::string head_;
  std::size_t taken_ = 0;  // of head_
};

}  // namespace pyrometer::base
