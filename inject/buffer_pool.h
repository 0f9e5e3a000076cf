// The buffers that CUPTI fills: a fixed number, so that recording never grows the program's memory.
// When all are out, CUPTI gets none, drops records and counts them. Thread-safe, lock-free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyrometer::inject {

class BufferPool {
 public:
  // CUPTI hands a buffer back when it is full, or at a flush if no record in it is unfinished. On a
  // device that is never idle only full ones come, so small buffers keep the timeline fresh; and
  // each thread of the program fills one of its own.
  static constexpr std::size_t kBufferBytes = 256U << 10;
  static constexpr std::size_t kBuffers = 64;

  // Reserves address space; memory is used as buffers are. False: no room.
  bool init();

  std::uint8_t* take();                        // null: all are out
  bool give_back(const std::uint8_t* buffer);  // false: not one of ours
  std::size_t taken() const;

 private:
  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint64_t> free_{0};  // a bit for each buffer
};

}  // namespace pyrometer::inject
