// Looking ahead in a byte source, for readers of containers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace pyrometer::base {

// A buffer over a source that counts its offset. An error of the source ends the bytes as the end
// of the input does; error() tells the two apart.
class InputWindow {
 public:
  explicit InputWindow(std::unique_ptr<ByteSource> source);

  // The next bytes without consuming them: `size` of them, or fewer at the end. Valid until the
  // next call. `size` is at most kLargest.
  [[nodiscard]] std::string_view peek(std::size_t size);
  // All that is buffered, at least one byte unless at the end.
  [[nodiscard]] std::string_view peek_some();
  // Consumes up to `count` bytes; fewer at the end. Seeks over them where that is possible.
  std::int64_t skip(std::int64_t count);
  // Takes back what was skipped of the bytes that peek_some() gave, up to kUnread of them.
  void unread(std::size_t count);
  // Copies out up to `size` bytes, at least one unless at the end.
  [[nodiscard]] std::size_t read(char* to, std::size_t size);
  // Of the next byte.
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

  static constexpr std::size_t kLargest = 64 * 1024;
  static constexpr std::size_t kUnread = 16;

 private:
  bool refill();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t offset_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace pyrometer::base
