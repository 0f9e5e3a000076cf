// Locks by which commands that choose GPUs at the same moment keep out of each other's way.
#pragma once

#include <string>

#include "base/result.h"

namespace pyrometer::cli {

// A lock on one GPU. It is the machine's (or container's), not the user's, is advisory, and ends
// with the last process that has inherited it, however that ends: nothing is left to clean up.
class GpuLock {
 public:
  enum class Outcome { kTaken, kHeldByOther };

  GpuLock() = default;
  ~GpuLock();
  GpuLock(GpuLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  GpuLock& operator=(GpuLock&&) = delete;

  // `gpu` is the key of the GPU, any text. Never waits. Errors: kPermission, kIo.
  [[nodiscard]] base::Result<Outcome> take(const std::string& gpu);
  // Leaves it to what this process becomes by exec.
  void pass_on();

 private:
  int fd_ = -1;
};

// $PYROMETER_LOCKS, else /run/lock where anyone may write there, else /tmp.
[[nodiscard]] std::string lock_folder();

}  // namespace pyrometer::cli
