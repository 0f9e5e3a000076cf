// Compares inject/cupti_abi.h with NVIDIA's headers. Compiled where those are; there is no code.
#include "inject/cupti_abi.h"

#include <cuda.h>
#include <cupti.h>

namespace {

namespace ours = pyrometer::inject::cupti;

#define SAME(our_type, our_field, their_type, their_field)                                 \
  static_assert(offsetof(ours::our_type, our_field) == offsetof(their_type, their_field)); \
  static_assert(sizeof(ours::our_type::our_field) == sizeof(their_type::their_field))

static_assert(ours::kSuccess == CUPTI_SUCCESS);
static_assert(ours::kMaxLimitReached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(ours::kNotInitialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(ours::kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(sizeof(ours::Result) == sizeof(CUptiResult));
static_assert(sizeof(ours::Kind) == sizeof(CUpti_ActivityKind));
static_assert(ours::kMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(ours::kMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(ours::kDriver == CUPTI_ACTIVITY_KIND_DRIVER);
static_assert(ours::kRuntime == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(ours::kConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(ours::kMemcpy2 == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(ours::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(ours::kDomainDriver == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(ours::kDomainRuntime == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(ours::kThreadIdSystem == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(ours::kDeviceBufferPoolLimit == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
static_assert(ours::kHostPinned == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);

#define CHECK_KERNEL(Theirs)                                                \
  SAME(Kernel, kind, Theirs, kind);                                         \
  SAME(Kernel, registers_per_thread, Theirs, registersPerThread);           \
  SAME(Kernel, start, Theirs, start);                                       \
  SAME(Kernel, end, Theirs, end);                                           \
  SAME(Kernel, device, Theirs, deviceId);                                   \
  SAME(Kernel, context, Theirs, contextId);                                 \
  SAME(Kernel, stream, Theirs, streamId);                                   \
  static_assert(offsetof(ours::Kernel, grid) == offsetof(Theirs, gridX));   \
  static_assert(offsetof(ours::Kernel, block) == offsetof(Theirs, blockX)); \
  SAME(Kernel, static_shared_memory, Theirs, staticSharedMemory);           \
  SAME(Kernel, dynamic_shared_memory, Theirs, dynamicSharedMemory);         \
  SAME(Kernel, correlation, Theirs, correlationId);                         \
  SAME(Kernel, name, Theirs, name);                                         \
  SAME(Kernel, graph_node, Theirs, graphNodeId);                            \
  SAME(Kernel, graph, Theirs, graphId);                                     \
  static_assert(sizeof(ours::Kernel) <= sizeof(Theirs))
CHECK_KERNEL(CUpti_ActivityKernel7);  // CUDA 11.6
CHECK_KERNEL(CUpti_ActivityKernel8);
CHECK_KERNEL(CUpti_ActivityKernel9);
CHECK_KERNEL(CUpti_ActivityKernel10);  // CUDA 13.0

#define CHECK_COPY(Ours, Theirs)                  \
  SAME(Ours, kind, Theirs, kind);                 \
  SAME(Ours, copy_kind, Theirs, copyKind);        \
  SAME(Ours, source_kind, Theirs, srcKind);       \
  SAME(Ours, destination_kind, Theirs, dstKind);  \
  SAME(Ours, bytes, Theirs, bytes);               \
  SAME(Ours, start, Theirs, start);               \
  SAME(Ours, end, Theirs, end);                   \
  SAME(Ours, device, Theirs, deviceId);           \
  SAME(Ours, context, Theirs, contextId);         \
  SAME(Ours, stream, Theirs, streamId);           \
  SAME(Ours, correlation, Theirs, correlationId); \
  SAME(Ours, graph, Theirs, graphId)
CHECK_COPY(Memcpy, CUpti_ActivityMemcpy4);
CHECK_COPY(Memcpy, CUpti_ActivityMemcpy5);
CHECK_COPY(Memcpy, CUpti_ActivityMemcpy6);
CHECK_COPY(MemcpyPeer, CUpti_ActivityMemcpyPtoP3);
CHECK_COPY(MemcpyPeer, CUpti_ActivityMemcpyPtoP4);

#define CHECK_MEMSET(Theirs)                        \
  SAME(Memset, kind, Theirs, kind);                 \
  SAME(Memset, bytes, Theirs, bytes);               \
  SAME(Memset, start, Theirs, start);               \
  SAME(Memset, end, Theirs, end);                   \
  SAME(Memset, device, Theirs, deviceId);           \
  SAME(Memset, context, Theirs, contextId);         \
  SAME(Memset, stream, Theirs, streamId);           \
  SAME(Memset, correlation, Theirs, correlationId); \
  SAME(Memset, memory_kind, Theirs, memoryKind);    \
  SAME(Memset, graph, Theirs, graphId)
CHECK_MEMSET(CUpti_ActivityMemset3);
CHECK_MEMSET(CUpti_ActivityMemset4);

SAME(ApiCall, kind, CUpti_ActivityAPI, kind);
SAME(ApiCall, cbid, CUpti_ActivityAPI, cbid);
SAME(ApiCall, start, CUpti_ActivityAPI, start);
SAME(ApiCall, end, CUpti_ActivityAPI, end);
SAME(ApiCall, process, CUpti_ActivityAPI, processId);
SAME(ApiCall, thread, CUpti_ActivityAPI, threadId);
SAME(ApiCall, correlation, CUpti_ActivityAPI, correlationId);
SAME(ApiCall, result, CUpti_ActivityAPI, returnValue);
static_assert(sizeof(ours::ApiCall) == sizeof(CUpti_ActivityAPI));

// Functions: the same arguments in registers. Enumerations stand for 32-bit integers, handles for
// pointers.
static_assert(sizeof(CUpti_SubscriberHandle) == sizeof(ours::Subscriber));
static_assert(sizeof(CUcontext) == sizeof(void*));

// properties.cpp
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16);
static_assert(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID == 33);
static_assert(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID == 34);
static_assert(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID == 50);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);

}  // namespace
