#include "base/input_window.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace pyrometer::base {

InputWindow::InputWindow(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(2 * kLargest) {}

// Reads behind what is buffered; false when there is no more.
bool InputWindow::refill() {
  if (ended_) return false;
  if (begin_ > kUnread) {
    const std::size_t gone = begin_ - kUnread;
    std::memmove(buffer_.data(), buffer_.data() + gone, end_ - gone);
    end_ -= gone;
    begin_ = kUnread;
  }
  auto got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  if (!got) error_ = got.error();
  ended_ = !got || *got == 0;
  if (!ended_) end_ += *got;
  return !ended_;
}

std::string_view InputWindow::peek(std::size_t size) {
  while (end_ - begin_ < size && refill()) {
  }
  return {buffer_.data() + begin_, std::min(size, end_ - begin_)};
}

std::string_view InputWindow::peek_some() {
  if (begin_ == end_) (void)refill();
  return {buffer_.data() + begin_, end_ - begin_};
}

std::int64_t InputWindow::skip(std::int64_t count) {
  std::int64_t done = 0;
  while (done < count) {
    if (begin_ == end_) {
      // Not to the very end: whether the bytes are there shows only when the last one is read.
      const std::int64_t size = source_->size_hint();
      const std::int64_t far = std::min(count - done, size - offset_) - 1;
      if (far > static_cast<std::int64_t>(buffer_.size()) && !ended_ &&
          source_->seek(offset_ + far, SEEK_SET) == offset_ + far) {
        offset_ += far;
        done += far;
        continue;
      }
      if (!refill()) break;
    }
    const auto step = std::min(count - done, static_cast<std::int64_t>(end_ - begin_));
    begin_ += static_cast<std::size_t>(step);
    offset_ += step;
    done += step;
  }
  return done;
}

void InputWindow::unread(std::size_t count) {
  count = std::min(count, begin_);
  begin_ -= count;
  offset_ -= static_cast<std::int64_t>(count);
}

std::size_t InputWindow::read(char* to, std::size_t size) {
  if (begin_ == end_ && size >= kLargest && !ended_) {  // no need for the buffer between
    auto got = source_->read(to, size);
    if (!got) error_ = got.error();
    ended_ = !got || *got == 0;
    offset_ += static_cast<std::int64_t>(got.value_or(0));
    return got.value_or(0);
  }
  if (begin_ == end_) (void)refill();
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  offset_ += static_cast<std::int64_t>(count);
  return count;
}

}  // namespace pyrometer::base
