// The part of CUPTI's binary interface that we use, so that the library builds without CUDA.
// Records are read by prefix: a later CUPTI appends fields, and what stands here keeps its place
// from CUDA 11.6 to 13.x (tests/cupti_abi_check.cpp compares it with NVIDIA's headers where they
// are).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyrometer::inject::cupti {

using Result = std::int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;
inline constexpr Result kNotInitialized = 15;
inline constexpr Result kMultipleSubscribers = 39;

using Kind = std::uint32_t;
inline constexpr Kind kMemcpy = 1;
inline constexpr Kind kMemset = 2;
inline constexpr Kind kDriver = 4;
inline constexpr Kind kRuntime = 5;
inline constexpr Kind kConcurrentKernel = 10;
inline constexpr Kind kMemcpy2 = 22;  // between two devices

inline constexpr std::uint32_t kFlushForced = 1;  // also buffers that hold unfinished records
inline constexpr std::uint32_t kDomainDriver = 1;
inline constexpr std::uint32_t kDomainRuntime = 2;
inline constexpr std::uint32_t kThreadIdSystem = 1;  // gettid() in records, not pthread_self()

using Attribute = std::uint32_t;
inline constexpr Attribute kDeviceBufferPoolLimit = 2;  // size_t
inline constexpr Attribute kHostPinned = 8;             // uint8_t

// Records are packed, at eight bytes' alignment; these prefixes need no packing.
struct Activity {
  Kind kind;
};

struct Kernel {
  Kind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t global_cache_requested;
  std::uint32_t global_cache_executed;
  std::uint64_t start;  // 0 and 0: no times, for lack of device memory
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_requested;
  std::uint8_t carveout;
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_memory_limit;
  std::uint32_t graph;
};

struct Memcpy {
  Kind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct MemcpyPeer {
  Kind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t source_device;
  std::uint32_t source_context;
  std::uint32_t destination_device;
  std::uint32_t destination_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct Memset {
  Kind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct ApiCall {
  Kind kind;
  std::uint32_t cbid;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t result;
};

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* most_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t valid);
using TimestampCallback = std::uint64_t (*)();
using Subscriber = void*;
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t cbid, const void* data);

// libcupti's functions. Those marked optional are missing in older versions.
struct Api {
  Result (*get_version)(std::uint32_t*) = nullptr;
  Result (*subscribe)(Subscriber*, Callback, void*) = nullptr;
  Result (*unsubscribe)(Subscriber) = nullptr;
  Result (*register_callbacks)(BufferRequested, BufferCompleted) = nullptr;
  Result (*enable)(Kind) = nullptr;
  Result (*disable)(Kind) = nullptr;
  Result (*flush_all)(std::uint32_t flags) = nullptr;
  Result (*get_next_record)(std::uint8_t* buffer, std::size_t valid, Activity** record) = nullptr;
  Result (*get_dropped)(void* context, std::uint32_t stream, std::size_t* dropped) = nullptr;
  Result (*set_attribute)(Attribute, std::size_t* size, void* value) = nullptr;
  Result (*get_timestamp)(std::uint64_t*) = nullptr;
  Result (*get_callback_name)(std::uint32_t domain, std::uint32_t cbid, const char**) = nullptr;
  Result (*set_thread_id_type)(std::uint32_t) = nullptr;
  Result (*get_thread_id_type)(std::uint32_t*) = nullptr;
  Result (*register_timestamp_callback)(TimestampCallback) = nullptr;           // optional
  Result (*enable_runtime_api)(std::uint32_t cbid, std::uint8_t on) = nullptr;  // optional
  Result (*enable_driver_api)(std::uint32_t cbid, std::uint8_t on) = nullptr;   // optional
};

}  // namespace pyrometer::inject::cupti
