// C ABI of libpyrometer_inject.so for the Python hook (ctypes) and for other languages.
//
// Nothing here throws, prints, blocks or fails in a way that a caller has to handle. In a process
// that is not recorded, or that went inert, every call returns at once and does nothing. All times
// are ns of CLOCK_MONOTONIC (Python: time.monotonic_ns()). Callable from any thread.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PYROMETER_HOOK_ABI 2

// PYROMETER_HOOK_ABI of the library.
uint32_t pyrometer_hook_abi(void);

// Joins the session named by PYROMETER_SESSION: makes this process's ring. May be called again.
// 0: recorded; otherwise why not: 1 no session, 2 the session is over, 3 no room or no access,
// 4 inert after fork.
int pyrometer_hook_attach(void);

// 1 while records are taken, else 0.
int pyrometer_hook_active(void);

// The id of a name in this process; the same text gives the same id. 0 when inert or out of room.
// `text` is UTF-8 of `length` bytes, at most 4,096 are kept.
uint32_t pyrometer_hook_name(const char* text, uint32_t length);

// A host range of the calling thread. `kind`, `flags`, `a`, `b`: ring/layout.h, RangeKind. Tell of
// a step when it has ended and no thread of the training is inside a CUDA call: GPU capture is
// switched there, which takes a tenth of a millisecond, some times a second at most.
void pyrometer_hook_range(uint32_t kind, uint32_t flags, uint32_t name, uint64_t start,
                          uint64_t end, int64_t a, int64_t b);

// A range as above, laid out like RangeBody of ring/layout.h: 40 bytes, native byte order.
struct pyrometer_hook_range_record {
  uint64_t start;
  uint64_t end;
  int64_t a;
  int64_t b;
  uint32_t name;
  uint16_t kind;
  uint16_t flags;
};

// `count` ranges of the calling thread at once. Python packs one and calls this rather than
// pyrometer_hook_range: ctypes converts two arguments in a third of the time that seven take.
void pyrometer_hook_ranges(const struct pyrometer_hook_range_record* records, uint32_t count);

// A number at a time, e.g. "memory.allocated_bytes".
void pyrometer_hook_counter(uint32_t name, uint64_t time, double value);

// A property of the process: "torch.version" = "2.11.0+cu130". Both are names.
void pyrometer_hook_info(uint32_t key, uint32_t value);

// ControlBits of ring/layout.h: what the monitor wants at present. 0 when inert.
uint32_t pyrometer_hook_control(void);

// torch.profiler (or another CUPTI client) is about to start: give CUPTI back. Returns when done.
void pyrometer_hook_yield(void);
// It has ended: take CUPTI again.
void pyrometer_hook_resume(void);

// What the training thread is doing, for the stack sampler.
enum pyrometer_hook_phase {
  PYROMETER_PHASE_HOST = 0,
  PYROMETER_PHASE_INPUT = 1,
  PYROMETER_PHASE_FORWARD = 2,
  PYROMETER_PHASE_BACKWARD = 3,
  PYROMETER_PHASE_OPTIMIZER = 4,
  PYROMETER_PHASE_CHECKPOINT = 5,
  PYROMETER_PHASE_LOGGING = 6,
};
// The byte that says so: the caller writes one of the above there. Never freed.
uint8_t* pyrometer_hook_phase_byte(void);

// The stack sampler: which lines of Python the training thread is in, by another thread that reads
// its stack without asking it (CPython only). `prepare` is called by the training thread, which
// holds Python's lock. `version`: sys.hexversion >> 16; `folders`: see source_places.h. Null, or
// why it cannot be done.
const char* pyrometer_hook_sampler_prepare(uint32_t version, const char* folders);
// What it sees of that thread now: "file:line function" a line, innermost first, `size` bytes with
// a zero at most; returns the length. For the caller to compare with what Python says, before
// `start`.
uint32_t pyrometer_hook_sampler_look(char* text, uint32_t size);
// 1: runs, and samples while the monitor asks for it. It may be stopped and started again, as round
// a fork. `stop` waits for the thread's end, a fifth of a second at most.
int pyrometer_hook_sampler_start(void);
void pyrometer_hook_sampler_stop(void);

// This process shall not be recorded after all (a data loader worker): ring removed, inert.
void pyrometer_hook_retire(void);

#ifdef __cplusplus
}
#endif
