#include "record_layouts.h"

#include <unistd.h>

#include <cstring>

#ifdef PYROMETER_HAVE_CUPTI_HEADERS
#include <cupti.h>
#else
#include "inject/cupti_abi.h"
#endif

namespace stub {
namespace {

#ifdef PYROMETER_HAVE_CUPTI_HEADERS
using Kernel13 = CUpti_ActivityKernel10;
using Kernel12 = CUpti_ActivityKernel9;
using Memcpy13 = CUpti_ActivityMemcpy6;
using Memcpy12 = CUpti_ActivityMemcpy5;
using Peer = CUpti_ActivityMemcpyPtoP4;
using Memset = CUpti_ActivityMemset4;
using Api = CUpti_ActivityAPI;

template <typename Kernel>
void fill_kernel(const StubActivity& a, Kernel* r) {
  r->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  r->registersPerThread = 32;
  r->deviceId = a.device;
  r->contextId = 1;
  r->streamId = a.stream;
  r->gridX = 64;
  r->gridY = r->gridZ = r->blockY = r->blockZ = 1;
  r->blockX = 256;
  r->staticSharedMemory = 1024;
  r->dynamicSharedMemory = 2048;
  r->correlationId = a.correlation;
  r->name = a.name;
  r->graphId = a.graph;
}

template <typename Copy>
void fill_copy(const StubActivity& a, Copy* r) {
  r->copyKind = a.copy_kind;
  r->srcKind = a.source_kind;
  r->dstKind = a.destination_kind;
  r->bytes = a.bytes;
  r->deviceId = a.device;
  r->contextId = 1;
  r->streamId = a.stream;
  r->correlationId = a.correlation;
}

void fill_memset(const StubActivity& a, Memset* r) {
  r->kind = CUPTI_ACTIVITY_KIND_MEMSET;
  r->bytes = a.bytes;
  r->memoryKind = a.destination_kind;
  r->deviceId = a.device;
  r->contextId = 1;
  r->streamId = a.stream;
  r->correlationId = a.correlation;
}

void fill_call(const StubActivity& a, Api* r) {
  r->kind = a.type == STUB_DRIVER_CALL ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
  r->cbid = a.cbid;
  r->processId = static_cast<std::uint32_t>(::getpid());
  r->threadId = a.thread;
  r->correlationId = a.correlation;
}
constexpr auto kMemcpyKind = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto kPeerKind = CUPTI_ACTIVITY_KIND_MEMCPY2;
#else
namespace cupti = pyrometer::inject::cupti;
template <typename Prefix, std::size_t kBytes>
struct Padded : Prefix {
  unsigned char rest[kBytes - sizeof(Prefix)];
};
template <typename Prefix>
struct Padded<Prefix, sizeof(Prefix)> : Prefix {};
using Kernel13 = Padded<cupti::Kernel, 216>;
using Kernel12 = Padded<cupti::Kernel, 208>;
using Memcpy13 = Padded<cupti::Memcpy, 96>;
using Memcpy12 = Padded<cupti::Memcpy, 88>;
using Peer = Padded<cupti::MemcpyPeer, 96>;
using Memset = Padded<cupti::Memset, 88>;
using Api = cupti::ApiCall;

void fill_kernel(const StubActivity& a, cupti::Kernel* r) {
  r->kind = cupti::kConcurrentKernel;
  r->registers_per_thread = 32;
  r->device = a.device;
  r->context = 1;
  r->stream = a.stream;
  r->grid[0] = 64;
  r->grid[1] = r->grid[2] = r->block[1] = r->block[2] = 1;
  r->block[0] = 256;
  r->static_shared_memory = 1024;
  r->dynamic_shared_memory = 2048;
  r->correlation = a.correlation;
  r->name = a.name;
  r->graph = a.graph;
}

template <typename Copy>
void fill_copy(const StubActivity& a, Copy* r) {
  r->copy_kind = a.copy_kind;
  r->source_kind = a.source_kind;
  r->destination_kind = a.destination_kind;
  r->bytes = a.bytes;
  r->device = a.device;
  r->context = 1;
  r->stream = a.stream;
  r->correlation = a.correlation;
}

void fill_memset(const StubActivity& a, cupti::Memset* r) {
  r->kind = cupti::kMemset;
  r->bytes = a.bytes;
  r->memory_kind = a.destination_kind;
  r->device = a.device;
  r->context = 1;
  r->stream = a.stream;
  r->correlation = a.correlation;
}

void fill_call(const StubActivity& a, Api* r) {
  r->kind = a.type == STUB_DRIVER_CALL ? cupti::kDriver : cupti::kRuntime;
  r->cbid = a.cbid;
  r->process = static_cast<std::uint32_t>(::getpid());
  r->thread = a.thread;
  r->correlation = a.correlation;
}
constexpr auto kMemcpyKind = cupti::kMemcpy;
constexpr auto kPeerKind = cupti::kMemcpy2;
#endif

template <typename Record, typename Fill>
std::size_t write_as(const StubActivity& a, std::int64_t offset, bool finished,
                     unsigned char* bytes, Fill fill) {
  static_assert(sizeof(Record) <= kMostRecordBytes);
  Record record;
  std::memset(static_cast<void*>(&record), 0, sizeof record);
  fill(a, &record);
  if (a.lost_times == 0) {
    record.start = a.start + static_cast<std::uint64_t>(offset);
    record.end = finished ? a.end + static_cast<std::uint64_t>(offset) : 0;
  }
  std::memcpy(bytes, &record, sizeof record);
  return sizeof record;
}

}  // namespace

std::size_t write_record(const StubActivity& activity, bool old_layout, std::int64_t offset,
                         bool finished, unsigned char* bytes) {
  const auto copy = [](const StubActivity& a, auto* record) {
    fill_copy(a, record);
    record->kind = a.type == STUB_PEER_COPY ? kPeerKind : kMemcpyKind;
  };
  const auto kernel = [](const StubActivity& a, auto* record) { fill_kernel(a, record); };
  switch (activity.type) {
    case STUB_KERNEL:
      return old_layout ? write_as<Kernel12>(activity, offset, finished, bytes, kernel)
                        : write_as<Kernel13>(activity, offset, finished, bytes, kernel);
    case STUB_COPY:
      return old_layout ? write_as<Memcpy12>(activity, offset, finished, bytes, copy)
                        : write_as<Memcpy13>(activity, offset, finished, bytes, copy);
    case STUB_PEER_COPY:
      return write_as<Peer>(activity, offset, finished, bytes, copy);
    case STUB_MEMSET:
      return write_as<Memset>(activity, offset, finished, bytes, &fill_memset);
    default:
      return write_as<Api>(activity, offset, finished, bytes, &fill_call);
  }
}

std::size_t record_size(const unsigned char* bytes, bool old_layout) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, bytes, sizeof kind);
  switch (kind) {
    case 10:
      return old_layout ? sizeof(Kernel12) : sizeof(Kernel13);
    case 1:
      return old_layout ? sizeof(Memcpy12) : sizeof(Memcpy13);
    case 22:
      return sizeof(Peer);
    case 2:
      return sizeof(Memset);
    case 4:
    case 5:
      return sizeof(Api);
    default:
      return 0;
  }
}

}  // namespace stub
