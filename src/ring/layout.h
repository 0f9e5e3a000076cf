// The shared-memory ring between a recorded process and the monitor: one file per process, its
// layout and its records. Only fixed-width integers, so that both sides may be built apart.
//
// The file is kHeaderBytes of Header, then slot_count slots of 64 bytes. Writers (any thread of the
// recorded process) reserve slots by advancing `head`, fill them, and publish each by storing its
// `sequence` = position + 1, a record's first slot first: so the slots of a record that its writer
// died in are known by the first one, or none of them is published. The one reader takes slots in
// order and advances `tail`. A full ring drops the record and counts it by type; nobody ever waits.
// Both sides may die at any instant: a slot that a dead writer reserved and never published is
// passed over by the reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pyrometer::ring {

inline constexpr std::uint64_t kMagic = 0x31474E49524F5950;  // "PYORING1", little-endian
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kSlotBytes = 64;
inline constexpr std::size_t kBodyBytes = 48;             // of a record's first slot
inline constexpr std::size_t kContinuationBytes = 56;     // of each further slot
inline constexpr std::uint32_t kDefaultSlots = 1U << 16;  // 4 MiB
inline constexpr std::size_t kMaxStringBytes = 4096;      // longer names are cut, and said to be
inline constexpr std::size_t kRecordTypes = 16;

// All times in records: ns of CLOCK_MONOTONIC, one base for every process of a machine.
enum class RecordType : std::uint16_t {
  kNone = 0,
  kString = 1,        // defines a name id of this process: StringBody, then its bytes
  kKernelConfig = 2,  // defines a launch-configuration id
  kKernel = 3,
  kCopy = 4,
  kMemset = 5,
  kApiCall = 6,  // CUDA runtime or driver call
  kSync = 7,     // device-side view of a synchronisation (CUPTI's SYNCHRONIZATION records)
  kRange = 8,    // host range from the hook
  kCounter = 9,
  kInfo = 10,     // a named property of the process: two name ids
  kCapture = 11,  // GPU capture was switched on or off
  kLoss = 12,     // records lost before they reached the ring
};

// What a hook range is. The reader gives meaning to `a` and `b`.
enum class RangeKind : std::uint16_t {
  kUser = 0,        // pyrometer.region(name)
  kStep = 1,        // one training step; a: its index from 0, b: samples in it, -1 unknown
  kInput = 2,       // the loop waited for its loader; a: batches ready when it asked, -1 unknown
                    // (a loader without workers: -1); b: worker processes
  kOptimizer = 3,   // Optimizer.step; name: the class
  kForward = 4,     // forward of the outermost module; name: its class
  kBackward = 5,    // Tensor.backward / autograd.backward
  kCheckpoint = 6,  // torch.save, torch.load, distributed checkpoint; a: bytes written, -1 unknown
  kValidation = 7,  // from eval() to train() of the outermost module, or a no_grad forward loop
  kCompile = 8,     // dynamo / inductor
  kGc = 9,          // a: generation, b: objects collected
  kLogging = 10,    // summary writers, wandb, trackers
  kLoaderStart = 11,  // building a DataLoader iterator (worker start-up included); b: workers
  kEpoch = 12,        // from one loader iterator to its end; a: index
  kSyncCall = 13,  // a blocking tensor call (item, tolist, cpu, nonzero …); name: "what file:line"
  kZeroGrad = 14,
  kProfiler = 15,   // torch.profiler held the GPU trace; nothing of the GPU was seen
  kTrialStep = 16,  // in trials only, beside each kStep; name: "on", "off" or "" (no alternation);
                    // a, b: as kStep
};

enum RangeFlags : std::uint16_t {
  kRangeNoGrad = 1,     // kForward under no_grad
  kRangeSkipped = 2,    // kStep/kOptimizer whose update GradScaler skipped
  kRangeEstimated = 4,  // limits are inferred, not seen
  kRangeUnpinned = 8,   // kInput: none was ready, and the pin-memory thread had batches to pin
};

// Why GPU capture changed (kCapture) or is off (Header::state_reason).
enum class CaptureReason : std::uint32_t {
  kNone = 0,
  kStarted = 1,          // first time
  kDutyCycle = 2,        // the monitor asked, to stay within the overhead budget
  kProfilerStarted = 3,  // yielded to torch.profiler or another Kineto client
  kProfilerEnded = 4,
  kClientHoldsCupti = 5,  // another CUPTI client (Nsight, a user's own)
  kNoCupti = 6,           // libcupti not found
  kUnsupportedCupti = 7,  // a version known to be broken, or of unknown layout
  kMonitorGone = 8,
  kForked = 9,
  kCuptiError = 10,
  kProcessEnds = 11,
  kDisabled = 12,  // by the user
};

struct SlotHeader {
  std::atomic<std::uint64_t> sequence;  // position + 1 once published
};

struct RecordHeader {
  RecordType type;
  std::uint16_t slots;   // of the whole record, continuations included
  std::uint32_t thread;  // Linux thread id; 0 where it does not apply
};

struct StringBody {
  std::uint32_t id;      // from 1 on, dense; 0 is the empty string
  std::uint32_t length;  // bytes that follow: kBodyBytes - 8 here, then continuations
  char bytes[kBodyBytes - 8];
};

struct KernelConfigBody {
  std::uint32_t id;  // from 1 on, dense
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t static_shared_bytes;
  std::uint32_t dynamic_shared_bytes;
  std::int32_t registers_per_thread;  // -1: unknown
};

struct ActivityBody {  // kKernel, kCopy, kMemset
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t stream;
  std::uint16_t device;       // CUDA ordinal as the process sees it
  std::uint8_t copy_kind;     // CUPTI's CUpti_ActivityMemcpyKind; 0 for kernels
  std::uint8_t memory_kinds;  // CUPTI's source kind in the low, destination kind in the high nibble
  std::uint32_t graph;        // CUDA graph id, 0: none
  union {
    struct {
      std::uint32_t name;
      std::uint32_t config;  // 0: unknown
    } kernel;
    std::uint64_t bytes;  // of a copy or memset
  };
  std::uint32_t context;
};

struct ApiCallBody {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t name;
  std::uint32_t result;  // CUDA error code
};

struct SyncBody {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t name;
  std::uint32_t stream;
  std::uint32_t device;
};

struct RangeBody {
  std::uint64_t start;
  std::uint64_t end;
  std::int64_t a;
  std::int64_t b;
  std::uint32_t name;
  RangeKind kind;
  std::uint16_t flags;
};

struct CounterBody {
  std::uint64_t time;
  double value;
  std::uint32_t name;  // "memory.allocated_bytes" and the like: docs/reference/recording.md
};

struct InfoBody {
  std::uint64_t time;
  std::uint32_t key;
  std::uint32_t value;
};

struct CaptureBody {
  std::uint64_t time;
  std::uint32_t on;  // 1 from `time` on, 0: off
  CaptureReason reason;
};

struct LossBody {
  std::uint64_t time;
  std::uint64_t count;
  std::uint32_t type;  // RecordType, 0: unknown
};

struct Slot {
  SlotHeader slot;
  union {
    struct {
      RecordHeader header;
      union {
        char body[kBodyBytes];
        StringBody string;
        KernelConfigBody config;
        ActivityBody activity;
        ApiCallBody api_call;
        SyncBody sync;
        RangeBody range;
        CounterBody counter;
        InfoBody info;
        CaptureBody capture;
        LossBody loss;
      };
    } record;
    char continuation[kContinuationBytes];
  };
};
static_assert(sizeof(Slot) == kSlotBytes);
static_assert(sizeof(ActivityBody) <= kBodyBytes && sizeof(RangeBody) <= kBodyBytes);

// What the monitor wants; set by it, read by the process when it likes.
enum ControlBits : std::uint32_t {
  kControlCaptureOff = 1,    // duty cycle: switch GPU capture off
  kControlSyncWindow = 2,    // the hook may name blocking calls (kSyncCall) now
  kControlStackSampler = 4,  // the hook may sample stacks now
  kControlEnd = 8,           // the recording is over: become inert
};

enum class WriterState : std::uint32_t { kStarting = 0, kCapturing, kPaused, kNoGpu, kInert };

struct Header {
  // Set once, before `magic` (stored last, release).
  std::atomic<std::uint64_t> magic;
  std::uint32_t version;
  std::uint32_t slot_count;  // a power of two
  std::uint32_t pid;         // as the process sees it
  std::uint32_t parent_pid;
  std::uint64_t process_start_ticks;  // field 22 of /proc/self/stat: tells reused pids apart
  std::uint64_t created;              // ns, CLOCK_MONOTONIC
  // By the monitor, when it opens the ring, so that the process can see that it died: start ticks
  // first, then the pid (release). 0: not opened yet, or a monitor that does not say.
  std::atomic<std::uint64_t> reader_start_ticks;
  std::atomic<std::uint32_t> reader_pid;
  char reserved[4];

  alignas(64) std::atomic<std::uint64_t> head;       // next position to reserve
  std::atomic<std::uint64_t> dropped[kRecordTypes];  // records, by RecordType
  alignas(64) std::atomic<std::uint64_t> tail;       // next position to read
  alignas(64) std::atomic<std::uint32_t> control;    // ControlBits, by the monitor
  std::atomic<std::uint64_t> heartbeat;              // ns, CLOCK_MONOTONIC, by the monitor
  alignas(64) std::atomic<std::uint32_t> state;      // WriterState
  std::atomic<std::uint32_t> state_reason;           // CaptureReason
  std::atomic<std::uint32_t> cupti_version;          // 0: not loaded
  std::atomic<std::uint64_t> own_cpu_ns;             // CPU time of the library's own thread
};
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Environment that the monitor gives to the command, and names of files.
inline constexpr char kSessionVariable[] = "PYROMETER_SESSION";  // the session's folder, absolute
// Ring of a process: <folder>/<pid>-<process_start_ticks>.ring, mode 0600; made under a name that
// starts with a dot and renamed when its header is complete. If that name is taken (the process was
// recorded, then replaced itself by exec), the next is <pid>-<process_start_ticks>.2.ring, up to
// .9. A process that finds no room for its ring leaves an empty <pid>-<process_start_ticks>.noroom,
// so that the monitor can say so.

}  // namespace pyrometer::ring
