// What one chunk of events decodes to: rows in the order of the text, names and threads as ids of
// the decoder's own tables. The rank assembler turns them into the timeline's columns.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::importers::kineto {

using LocalId = std::uint32_t;  // of the decoder's names, threads or configs

enum class Category : std::uint8_t {
  kNone,  // not given
  kCpuOp,
  kApi,  // runtime and driver calls
  kKernel,
  kMemcpy,
  kMemset,
  kAnnotation,
  kPython,
  kOverhead,
  kSync,
  kTrace,    // the profiler's own span
  kInstant,  // [memory]
  kNotNeeded,
  kUnknown,
};

// What was mended or dropped. Ids, severities and words are in mishaps.cpp.
enum class Mishap : std::uint8_t {
  kStrayComma,
  kMissingComma,
  kForeignText,
  kControlCharacters,
  kInvalidUtf8,
  kInvalidEscape,
  kMendedEvent,
  kDamagedEvent,
  kDuplicateKey,
  kTruncatedFile,
  kNegativeDuration,
  kMissingTime,
  kMissingDuration,
  kMissingName,
  kMissingPhase,
  kMissingCategory,
  kUnknownCategory,
  kUnknownPhase,
  kUnmatchedBegin,
  kUnmatchedEnd,
  kNoDevice,
  kCount,
};

// Counts and first places of mishaps; offsets are bytes in the decompressed file.
class MishapCounts {
 public:
  MishapCounts() { first_.fill(-1); }
  void add(Mishap what, std::int64_t offset, std::int64_t count = 1) {
    const auto i = static_cast<std::size_t>(what);
    count_[i] += count;
    if (offset >= 0 && (first_[i] < 0 || offset < first_[i])) first_[i] = offset;
  }
  void merge(const MishapCounts& other);
  [[nodiscard]] std::int64_t count(Mishap what) const {
    return count_[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] std::int64_t first(Mishap what) const {
    return first_[static_cast<std::size_t>(what)];
  }
  // Adds the non-zero ones to `stats`.
  void report(model::ImportStats& stats) const;

 private:
  static constexpr auto kKindCount = static_cast<std::size_t>(Mishap::kCount);
  std::array<std::int64_t, kKindCount> count_{};
  std::array<std::int64_t, kKindCount> first_{};
};

struct ActivityRow {
  std::int64_t start = 0;  // ns after the trace's base
  std::int64_t end = 0;
  std::uint64_t correlation = 0;
  std::int64_t bytes = -1;  // copies and memsets
  LocalId name = 0;
  LocalId config = model::kNone;      // kernels: of the decoder's configs, kNone: nothing given
  std::uint32_t comm = model::kNone;  // row of ChunkRows::comms
  std::int32_t device = 0;
  std::int32_t stream = 0;
  std::uint32_t graph_node = 0;
  model::ActivityKind kind = model::ActivityKind::kKernel;
  model::CopyKind copy = model::CopyKind::kNotCopy;
  model::HostMemory host = model::HostMemory::kUnknown;
};

struct HostRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t correlation = 0;  // API calls
  LocalId name = 0;
  LocalId thread = 0;
  LocalId shapes = 0;  // operators
  LocalId dtypes = 0;
};

struct SyncRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t correlation = 0;
  LocalId name = 0;
  std::int32_t device = 0;
  std::int32_t stream = 0;
};

struct MemoryRow {
  std::int64_t time = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = -1;
  std::int64_t total_reserved = -1;
  std::int16_t device = -1;
};

struct CommRow {
  LocalId collective = 0;
  LocalId process_group = 0;
  LocalId group_ranks = 0;
  LocalId dtype = 0;
  std::int64_t in_elements = -1;
  std::int64_t out_elements = -1;
  std::int64_t sequence = -1;
  std::int32_t group_size = -1;
};

// Half of a B/E pair; the halves meet when the whole document has been read.
struct HalfRow {
  HostRow row;  // start is its time, end unused
  std::int64_t offset = -1;
  Category category = Category::kNone;
  bool begins = false;
};

struct ThreadName {
  LocalId thread = 0;
  LocalId name = 0;
};

struct LocalThread {
  std::int64_t pid = 0;
  std::string tid;
};

struct ChunkRows {
  std::vector<ActivityRow> activities;
  std::vector<HostRow> api_calls;
  std::vector<HostRow> host_ops;
  std::vector<HostRow> annotations;
  std::vector<HostRow> python;
  std::vector<HostRow> overhead;
  std::vector<SyncRow> syncs;
  std::vector<MemoryRow> memory;
  std::vector<CommRow> comms;
  std::vector<HalfRow> halves;
  std::vector<ThreadName> thread_names;
  std::vector<model::Interval> spans;  // "Trace" events
  std::int64_t events = 0;             // of every kind, dropped ones included
  bool hip_names = false;
  MishapCounts mishaps;

  // Entries that the decoder's tables gained with this chunk, in the order of their ids.
  std::vector<std::string_view> new_names;  // stay valid as long as the decoder
  std::vector<LocalThread> new_threads;
  std::vector<model::KernelConfig> new_configs;

  void clear();
};

}  // namespace pyrometer::importers::kineto
