#include "buffer_pool.h"

#include <sys/mman.h>

#include <bit>

namespace pyrometer::inject {

bool BufferPool::init() {
  static_assert(kBuffers == 64);
  if (memory_ == nullptr) {
    void* memory = ::mmap(nullptr, kBuffers * kBufferBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return false;
    }
    memory_ = static_cast<std::uint8_t*>(memory);
    free_.store(~std::uint64_t{0}, std::memory_order_release);
  }
  return true;
}

std::uint8_t* BufferPool::take() {
  std::uint64_t free = free_.load(std::memory_order_relaxed);
  while (free != 0) {
    // The lowest: so that those that were used are used again.
    const std::uint64_t lowest = free & (~free + 1);
    if (free_.compare_exchange_weak(free, free & ~lowest, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return memory_ + static_cast<std::size_t>(std::countr_zero(lowest)) * kBufferBytes;
    }
  }
  return nullptr;
}

bool BufferPool::give_back(const std::uint8_t* buffer) {
  if (memory_ == nullptr || buffer < memory_ || buffer >= memory_ + kBuffers * kBufferBytes) {
    return false;
  }
  const std::size_t index = static_cast<std::size_t>(buffer - memory_) / kBufferBytes;
  free_.fetch_or(std::uint64_t{1} << index, std::memory_order_release);
  return true;
}

std::size_t BufferPool::taken() const {
  return kBuffers - static_cast<std::size_t>(std::popcount(free_.load(std::memory_order_relaxed)));
}

}  // namespace pyrometer::inject
