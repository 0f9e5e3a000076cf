#include "layout_check.h"

#include <unistd.h>

#include <cerrno>

namespace pyrometer::inject {
namespace {

constexpr std::uint64_t kSlack = 60'000'000'000;  // device clocks are converted, thus inexact
constexpr std::uint32_t kMostDevices = 1024;

const char* check_times(std::uint64_t start, std::uint64_t end, std::uint64_t earliest,
                        std::uint64_t now) {
  if (start == 0 || end == 0) {
    return nullptr;  // "no time"
  }
  if (start > end) {
    return "a record ends before it starts";
  }
  if (end > now + kSlack || start + kSlack < earliest) {
    return "a record's time is out of range";
  }
  return nullptr;
}

// A system call fails on a bad address where a read of ours would be fatal.
bool readable(const char* text) { return ::access(text, F_OK) == 0 || errno != EFAULT; }

const char* check_kernel(const cupti::Kernel& kernel) {
  if (kernel.device >= kMostDevices) {
    return "a kernel's device is out of range";
  }
  const std::int64_t threads =
      std::int64_t{kernel.block[0]} * kernel.block[1] * std::int64_t{kernel.block[2]};
  if (kernel.grid[0] < 1 || kernel.grid[1] < 1 || kernel.grid[2] < 1 || kernel.block[0] < 1 ||
      kernel.block[1] < 1 || kernel.block[2] < 1 || threads > 1024) {
    return "a kernel's launch configuration is out of range";
  }
  if (kernel.name == nullptr || !readable(kernel.name)) {
    return "a kernel has no name";
  }
  return nullptr;
}

std::size_t least_size(cupti::Kind kind) {
  switch (kind) {
    case cupti::kConcurrentKernel:
      return sizeof(cupti::Kernel);
    case cupti::kMemcpy:
      return offsetof(cupti::Memcpy, graph) + sizeof(std::uint32_t);
    case cupti::kMemcpy2:
      return offsetof(cupti::MemcpyPeer, graph) + sizeof(std::uint32_t);
    case cupti::kMemset:
      return offsetof(cupti::Memset, graph) + sizeof(std::uint32_t);
    case cupti::kRuntime:
    case cupti::kDriver:
      return sizeof(cupti::ApiCall);
    default:
      return sizeof(cupti::Activity);
  }
}

}  // namespace

const char* LayoutCheck::check_record(const cupti::Activity& record, std::uint64_t earliest,
                                      std::uint64_t now) {
  switch (record.kind) {
    case cupti::kConcurrentKernel: {
      const auto& kernel = reinterpret_cast<const cupti::Kernel&>(record);
      const char* problem = check_times(kernel.start, kernel.end, earliest, now);
      return problem != nullptr ? problem : check_kernel(kernel);
    }
    case cupti::kMemcpy: {
      const auto& copy = reinterpret_cast<const cupti::Memcpy&>(record);
      return check_times(copy.start, copy.end, earliest, now);
    }
    case cupti::kMemcpy2: {
      const auto& copy = reinterpret_cast<const cupti::MemcpyPeer&>(record);
      return check_times(copy.start, copy.end, earliest, now);
    }
    case cupti::kMemset: {
      const auto& set = reinterpret_cast<const cupti::Memset&>(record);
      return check_times(set.start, set.end, earliest, now);
    }
    case cupti::kRuntime:
    case cupti::kDriver: {
      const auto& call = reinterpret_cast<const cupti::ApiCall&>(record);
      if (call.process != static_cast<std::uint32_t>(::getpid())) {
        return "an API record is of another process";
      }
      return check_times(call.start, call.end, earliest, now);
    }
    default:
      return nullptr;  // a kind that nobody asked for is passed over
  }
}

const char* LayoutCheck::examine(const cupti::Api& api, std::uint8_t* buffer, std::size_t valid,
                                 std::uint64_t earliest, std::uint64_t now) {
  cupti::Activity* record = nullptr;
  const std::uint8_t* last = nullptr;
  std::size_t last_size = 0;
  while (!done() && api.get_next_record(buffer, valid, &record) == cupti::kSuccess) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(record);
    if (at < buffer || at + least_size(record->kind) > buffer + valid) {
      return "a record reaches beyond its buffer";
    }
    if (last != nullptr && (at < last + last_size || (at - last) % 8 != 0)) {
      return "records are shorter than they should be";
    }
    if (const char* problem = check_record(*record, earliest, now); problem != nullptr) {
      return problem;
    }
    last = at;
    last_size = least_size(record->kind);
    ++checked_;
  }
  return nullptr;
}

}  // namespace pyrometer::inject
