// Xid errors: what the driver reports when a GPU misbehaves.
#pragma once

#include <span>

#include "sources/nvml/nvml_device.h"

namespace pyrometer::sources::nvml {

// What an Xid number stands for, in a few words; empty for rare ones.
[[nodiscard]] std::string_view xid_text(std::uint64_t xid);

class XidWatch {
 public:
  explicit XidWatch(const Api& api) : api_(api) {}
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;
  ~XidWatch() { close(); }

  void watch(Device& device);
  // Takes what has been reported since the last call, without waiting. Returns NVML's code where
  // the watch as a whole broke, else kSuccess.
  [[nodiscard]] Return collect(std::span<Device> devices, Batch& batch);
  void close() noexcept;

 private:
  const Api& api_;
  EventSet set_ = nullptr;
};

}  // namespace pyrometer::sources::nvml
