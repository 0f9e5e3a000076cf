// The Timeline: what was seen of a run, as struct-of-arrays tables, immutable after import.
//
// One RankTimeline per rank; nothing is shared between ranks, so each can be imported and analysed
// on its own thread. Built only by TimelineBuilder (timeline_builder.h), which sorts every table
// into its canonical order and resolves the links; the order of the input therefore never matters.
// All columns of a table have the same length. Times are integer nanoseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "model/import_stats.h"
#include "model/run.h"
#include "model/types.h"

namespace pyrometer::model {

enum class ActivityKind : std::uint8_t { kKernel, kCopy, kMemset };

enum class CopyKind : std::uint8_t { kNotCopy, kH2D, kD2H, kD2D, kP2P, kH2H, kUnknown };

// Host side of a copy. kPinned covers page-locked and registered host memory.
enum class HostMemory : std::uint8_t { kUnknown, kPageable, kPinned };

// Launch configuration; equal ones share a row.
struct KernelConfig {
  std::uint32_t grid[3] = {0, 0, 0};       // blocks; 0 when not given
  std::uint32_t block[3] = {0, 0, 0};      // threads
  std::int32_t registers_per_thread = -1;  // -1: not given
  std::int32_t shared_memory_bytes = -1;
  float occupancy_pct = -1.0F;  // "est. achieved occupancy %": theoretical estimate, 0–100
  float blocks_per_sm = -1.0F;
  friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

// A collective, as far as the trace tells. One row per communication kernel that has details.
struct CommDetail {
  NameId collective = 0;     // e.g. "allreduce"
  NameId process_group = 0;  // name
  NameId group_ranks = 0;    // as written, e.g. "[0, 1]"
  NameId dtype = 0;
  std::int64_t in_elements = -1;
  std::int64_t out_elements = -1;
  std::int64_t sequence = -1;  // per process group
  std::int32_t group_size = -1;
};

// What ran on devices: kernels, copies, memsets. Sorted by (device, start, end, stream, name).
// cuda_sync records, GPU annotations and CPU ops that carry a stream number are not in here.
struct ActivityTable {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;  // >= start
  std::vector<NameId> name;
  std::vector<std::int32_t> stream;
  std::vector<Index> launch;  // row of api_calls that launched it, kNone when not seen
  std::vector<Index> detail;  // kernel: kernel_configs; copy/memset: copy_bytes; kNone: not given
  std::vector<Index> comm;    // row of comm_details, kNone for most
  std::vector<DeviceId> device;
  std::vector<ActivityKind> kind;
  std::vector<CopyKind> copy;  // kNotCopy for kernels; memsets are kD2D
  std::vector<HostMemory> host_memory;
  std::vector<std::uint32_t> graph_node;  // 0: not part of a CUDA graph
  [[nodiscard]] Index size() const { return static_cast<Index>(start.size()); }
  [[nodiscard]] DurationNs duration(Index i) const { return end[i] - start[i]; }
};

// CUDA/HIP runtime and driver API calls. Sorted by (thread, start, -end, name).
struct ApiCallTable {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<NameId> name;
  std::vector<ThreadId> thread;
  std::vector<std::uint64_t> correlation;  // 0: not given
  std::vector<Index> op;              // innermost host_ops row on the same thread that contains it
  std::vector<Index> first_activity;  // kNone: launched nothing that was seen
  std::vector<std::uint32_t> activity_count;  // CUDA graph launches have many (not contiguous rows)
  [[nodiscard]] Index size() const { return static_cast<Index>(start.size()); }
};

// Framework operators (cpu_op). Sorted by (thread, start, -end, name); nested by time.
struct HostOpTable {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<NameId> name;
  std::vector<ThreadId> thread;
  std::vector<Index> parent;   // enclosing row on the same thread, kNone at top level
  std::vector<NameId> shapes;  // "Input Dims" as written, 0 when not recorded
  std::vector<NameId> dtypes;  // "Input type" as written, 0 when not recorded
  [[nodiscard]] Index size() const { return static_cast<Index>(start.size()); }
};

// Named host ranges: user annotations (record_function, profiler ranges, hook markers) in one
// table, Python functions (with_stack) in another. Sorted like HostOpTable.
struct RangeTable {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<NameId> name;
  std::vector<ThreadId> thread;
  [[nodiscard]] Index size() const { return static_cast<Index>(start.size()); }
};

// Device-side view of synchronisation (cuda_sync), where recorded. Sorted by (start, end, name).
struct SyncTable {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<NameId> name;
  std::vector<std::int32_t> stream;
  std::vector<DeviceId> device;
  std::vector<std::uint64_t> correlation;
  [[nodiscard]] Index size() const { return static_cast<Index>(start.size()); }
};

// Allocator events ([memory] instants), where profile_memory was on. Sorted by (start, ...).
struct MemoryTable {
  std::vector<TimeNs> time;
  std::vector<std::int64_t> bytes;            // > 0 allocation, < 0 free
  std::vector<std::int64_t> total_allocated;  // after the event, -1 when not given
  std::vector<std::int64_t> total_reserved;   // -1 when not given
  std::vector<std::int16_t> device;           // -1: host
  [[nodiscard]] Index size() const { return static_cast<Index>(time.size()); }
};

struct Thread {
  std::int64_t pid = 0;
  std::string tid;   // as written: a number or "stream 7"-like text
  std::string name;  // from thread_name metadata, may be empty
  RowRange api_calls;
  RowRange host_ops;
  RowRange annotations;
  RowRange python;
};

struct Device {
  std::int32_t ordinal = 0;  // as the trace numbers it
  std::string name;          // e.g. "NVIDIA H200", empty when unknown
  std::int64_t total_memory_bytes = -1;
  std::int32_t compute_major = -1;
  std::int32_t compute_minor = -1;
  std::int32_t multiprocessors = -1;
  RowRange activities;
};

enum class RankSource : std::uint8_t { kDistributedInfo, kFileName, kOrder, kSingle };

struct RankInfo {
  std::int32_t rank = 0;
  std::int32_t world_size = -1;  // -1: not known
  RankSource source = RankSource::kSingle;
  std::string file;  // where it came from
  std::string host;
  std::string backend;  // "nccl", "gloo", …
  std::string trace_name;
  std::string trace_id;
  // Flags of the profiler, absent when the trace does not say. They decide the dilation model.
  std::optional<bool> record_shapes;
  std::optional<bool> with_stack;
  std::optional<bool> profile_memory;
  std::int64_t cuda_runtime_version = -1;
  std::int64_t cuda_driver_version = -1;
  bool is_rocm = false;
  std::int64_t json_bytes = 0;   // size of the (decompressed) input
  std::int64_t event_count = 0;  // trace events of every kind, dropped ones included
};

struct RankTimeline {
  RankInfo info;
  base::StringPool names;
  std::vector<Thread> threads;
  std::vector<Device> devices;  // sorted by ordinal; those with activities or given in the metadata
  ThreadId main_thread = 0;     // valid when !threads.empty()

  ActivityTable activities;
  ApiCallTable api_calls;
  HostOpTable host_ops;
  RangeTable annotations;
  RangeTable python;
  SyncTable syncs;
  MemoryTable memory;
  RangeTable profiler_overhead;  // "overhead" events of the profiler; thread is 0 where it has none
  std::vector<KernelConfig> kernel_configs;
  std::vector<std::int64_t> copy_bytes;  // -1: not given
  std::vector<CommDetail> comm_details;
  std::optional<Interval> profiler_span;  // the "Trace" event: when the profiler was on

  ImportStats stats;

  // What a recording knows of the whole run; null for traces. The tables above then hold the kept
  // steps alone, joined into one continuous time. Shared: copies of a timeline never change it.
  std::shared_ptr<const RecordedRun> run;

  [[nodiscard]] std::string_view name(NameId id) const { return names.view(id); }
  [[nodiscard]] bool has_host_events() const { return api_calls.size() + host_ops.size() > 0; }
};

struct Timeline {
  std::vector<RankTimeline> ranks;  // sorted by rank
  std::vector<std::string> notes;   // how ranks were told apart, files passed over and why
};

}  // namespace pyrometer::model
