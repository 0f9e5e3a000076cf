// A simulated GPU behind a fake libcuda.so.1, for tests on machines without one. What it does:
//  - cuInit loads CUDA_INJECTION64_PATH and calls its InitializeInjection, as the driver does;
//  - streams execute what is launched in order; a launch takes its duration on the stream, and the
//    times are exact: they go to the log and, through the fake libcupti, to a profiler;
//  - the file named by PYROMETER_STUB_LOG gets a line for each activity and each call.
// Programs use the functions below, Python through ctypes. PYROMETER_STUB_OPTIONS, comma-separated:
//  fast           nothing waits: an activity is done as soon as it is launched
//  devices=N      number of devices (1)
//  version=N      what cuptiGetVersion says
//  held           another client holds CUPTI: cuptiSubscribe fails with error 39
//  no_clock       cuptiActivityRegisterTimestampCallback fails: records carry CLOCK_REALTIME
//  layout=bad     records are not laid out as known
//  hang           cuptiActivityFlushAll never returns when it is forced
//  dead           all of CUPTI fails with error 999
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Each returns 0 or a CUDA error code. `duration_ns`: on the device.
int stub_launch(const char* kernel, uint64_t duration_ns, uint32_t stream);
// A launch through the driver's interface (cuLaunchKernel), as Triton does it.
int stub_driver_launch(const char* kernel, uint64_t duration_ns, uint32_t stream);
// A CUDA graph of `count` such kernels, in one call.
int stub_graph_launch(const char* kernel, uint32_t count, uint64_t duration_ns, uint32_t stream);
// `kind`: "h2d", "d2h", "d2d", "p2p". A copy from or to pageable memory blocks.
int stub_copy(const char* kind, uint64_t bytes, int pageable, uint64_t duration_ns,
              uint32_t stream);
int stub_memset(uint64_t bytes, uint64_t duration_ns, uint32_t stream);
int stub_stream_synchronize(uint32_t stream);
int stub_device_synchronize(void);
int stub_malloc(uint64_t bytes);
// A call that profilers are not interested in (cudaGetDevice).
int stub_get_device(void);
// CUPTI loses the next `count` records, and counts them.
void stub_drop(uint32_t count);
// The next `count` device activities get no times.
void stub_lose_times(uint32_t count);

// For the fake libcupti.
enum StubType {
  STUB_KERNEL = 1,
  STUB_COPY,
  STUB_PEER_COPY,
  STUB_MEMSET,
  STUB_RUNTIME_CALL,
  STUB_DRIVER_CALL,
};

struct StubActivity {
  enum StubType type;
  const char* name;  // of the kernel or the call
  uint64_t start;    // ns of CLOCK_MONOTONIC
  uint64_t end;
  uint32_t correlation;
  uint32_t stream;
  uint32_t device;
  uint32_t graph;
  uint64_t bytes;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint32_t cbid;
  uint32_t thread;
  int lost_times;
};

typedef void (*StubSink)(const struct StubActivity* activity);
void stub_set_sink(StubSink sink);
uint32_t stub_take_drop(void);              // 1 if the next record is to be lost
const char* stub_option(const char* name);  // value, "" if it has none, null if it is not set
int stub_is_fast(void);

#ifdef __cplusplus
}
#endif
