#include "importers/kineto/rank_assembler.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace pyrometer::importers::kineto {

using model::kNone;

void DecoderTables::take(ChunkRows& rows) {
  const auto move_to = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  };
  move_to(rows.new_names, names);
  move_to(rows.new_threads, threads);
  move_to(rows.new_configs, configs);
}

model::NameId RankAssembler::name(IdMap& map, const DecoderTables& tables, LocalId id) {
  model::NameId& known = map.names[id];
  if (known == kNone) known = builder_.timeline().names.intern(tables.names[id]);
  return known;
}

model::ThreadId RankAssembler::thread(IdMap& map, const DecoderTables& tables, LocalId id) {
  model::Index& known = map.threads[id];
  if (known == kNone) known = builder_.thread(tables.threads[id].pid, tables.threads[id].tid);
  return static_cast<model::ThreadId>(known);
}

model::Index RankAssembler::config(IdMap& map, const DecoderTables& tables, LocalId id) {
  if (id == kNone) return kNone;
  model::Index& known = map.configs[id];
  if (known == kNone) {
    std::vector<model::KernelConfig>& configs = builder_.timeline().kernel_configs;
    // Another decoder may have met the same one. There are few, and each comes here once.
    const auto at = maps_.size() > 1 ? std::find(configs.begin(), configs.end(), tables.configs[id])
                                     : configs.end();
    known = static_cast<model::Index>(at - configs.begin());
    if (at == configs.end()) configs.push_back(tables.configs[id]);
  }
  return known;
}

void RankAssembler::add(const ChunkRows& rows, std::size_t decoder, const DecoderTables& tables) {
  if (decoder >= maps_.size()) maps_.resize(decoder + 1);
  IdMap& map = maps_[decoder];
  map.names.resize(tables.names.size(), kNone);
  map.threads.resize(tables.threads.size(), kNone);
  map.configs.resize(tables.configs.size(), kNone);
  add_activities(rows, map, tables);
  add_host(rows, map, tables);
  add_rest(rows, map, tables);
  events_ += rows.events;
  hip_names_ = hip_names_ || rows.hip_names;
  mishaps_.merge(rows.mishaps);
}

void RankAssembler::add_activities(const ChunkRows& rows, IdMap& map, const DecoderTables& tables) {
  model::RankTimeline& t = builder_.timeline();
  const auto first_comm = static_cast<model::Index>(t.comm_details.size());
  for (const CommRow& row : rows.comms) {
    model::CommDetail detail;
    detail.collective = name(map, tables, row.collective);
    detail.process_group = name(map, tables, row.process_group);
    detail.group_ranks = name(map, tables, row.group_ranks);
    detail.dtype = name(map, tables, row.dtype);
    detail.in_elements = row.in_elements;
    detail.out_elements = row.out_elements;
    detail.sequence = row.sequence;
    detail.group_size = row.group_size;
    t.comm_details.push_back(detail);
  }
  for (const ActivityRow& row : rows.activities) {
    model::Index detail = config(map, tables, row.config);
    if (row.kind != model::ActivityKind::kKernel && row.bytes >= 0) {
      detail = static_cast<model::Index>(t.copy_bytes.size());
      t.copy_bytes.push_back(row.bytes);
    }
    const model::Index comm = row.comm == kNone ? kNone : first_comm + row.comm;
    builder_.add_activity(row.kind, row.start, row.end, name(map, tables, row.name),
                          builder_.device(row.device), row.stream, row.correlation, row.copy,
                          row.host, detail, comm, row.graph_node);
  }
}

void RankAssembler::add_host(const ChunkRows& rows, IdMap& map, const DecoderTables& tables) {
  for (const HostRow& row : rows.api_calls) {
    builder_.add_api_call(row.start, row.end, name(map, tables, row.name),
                          thread(map, tables, row.thread), row.correlation);
  }
  for (const HostRow& row : rows.host_ops) {
    builder_.add_host_op(row.start, row.end, name(map, tables, row.name),
                         thread(map, tables, row.thread), name(map, tables, row.shapes),
                         name(map, tables, row.dtypes));
  }
  for (const HostRow& row : rows.annotations) {
    builder_.add_annotation(row.start, row.end, name(map, tables, row.name),
                            thread(map, tables, row.thread));
  }
  for (const HostRow& row : rows.python) {
    builder_.add_python(row.start, row.end, name(map, tables, row.name),
                        thread(map, tables, row.thread));
  }
}

void RankAssembler::add_rest(const ChunkRows& rows, IdMap& map, const DecoderTables& tables) {
  model::RankTimeline& t = builder_.timeline();
  for (const HostRow& row : rows.overhead) {
    t.profiler_overhead.start.push_back(row.start);
    t.profiler_overhead.end.push_back(row.end);
    t.profiler_overhead.name.push_back(name(map, tables, row.name));
    t.profiler_overhead.thread.push_back(0);
  }
  for (const SyncRow& row : rows.syncs) {
    t.syncs.start.push_back(row.start);
    t.syncs.end.push_back(row.end);
    t.syncs.name.push_back(name(map, tables, row.name));
    t.syncs.stream.push_back(row.stream);
    t.syncs.device.push_back(builder_.device(row.device));
    t.syncs.correlation.push_back(row.correlation);
  }
  for (const MemoryRow& row : rows.memory) {
    t.memory.time.push_back(row.time);
    t.memory.bytes.push_back(row.bytes);
    t.memory.total_allocated.push_back(row.total_allocated);
    t.memory.total_reserved.push_back(row.total_reserved);
    t.memory.device.push_back(row.device);
  }
  for (const model::Interval& span : rows.spans) {
    if (!t.profiler_span) t.profiler_span = span;
    t.profiler_span->start = std::min(t.profiler_span->start, span.start);
    t.profiler_span->end = std::max(t.profiler_span->end, span.end);
  }
  for (HalfRow half : rows.halves) {
    half.row.name = name(map, tables, half.row.name);
    half.row.thread = thread(map, tables, half.row.thread);
    half.row.shapes = name(map, tables, half.row.shapes);
    half.row.dtypes = name(map, tables, half.row.dtypes);
    halves_.push_back(half);
  }
  for (const ThreadName& named : rows.thread_names) {
    const LocalThread& thread = tables.threads[named.thread];
    thread_names_.push_back({thread.pid, thread.tid, std::string(tables.names[named.name])});
  }
}

ImportedTrace RankAssembler::finish(const TraceMetadata& metadata, std::int64_t json_bytes) {
  match_halves();
  if (metadata.base_ns != 0) shift_times(metadata.base_ns);
  model::RankTimeline& t = builder_.timeline();
  for (const model::Device& known : metadata.devices) {
    model::Device& device = t.devices[builder_.device(known.ordinal)];
    device = known;
  }
  name_threads();
  mishaps_.report(t.stats);
  if (metadata.unreadable) {
    t.stats.add("unreadable_metadata", model::StatSeverity::kInfo, -1,
                "values about the run (devices, ranks, clock) that could not be read");
  }
  model::RankInfo& info = t.info;
  info.world_size = metadata.world_size;
  info.host = metadata.host;
  info.backend = metadata.backend;
  info.trace_name = metadata.trace_name;
  info.trace_id = metadata.trace_id;
  info.record_shapes = metadata.record_shapes;
  info.with_stack = metadata.with_stack;
  info.profile_memory = metadata.profile_memory;
  info.cuda_runtime_version = metadata.cuda_runtime_version;
  info.cuda_driver_version = metadata.cuda_driver_version;
  info.is_rocm = metadata.is_rocm || hip_names_;
  info.json_bytes = json_bytes;
  info.event_count = events_;
  ImportedTrace trace{builder_.finish(), metadata.rank};
  // Overhead belongs to no thread (Kineto gives it pid -1): 0 also after threads were renumbered.
  std::vector<model::ThreadId>& overhead = trace.timeline.profiler_overhead.thread;
  std::fill(overhead.begin(), overhead.end(), model::ThreadId{0});
  return trace;
}

// Begin and end events of one thread nest. At one and the same time, ends come first unless nothing
// is open that they could end: ranges that touch are more common than empty ones.
void RankAssembler::match_halves() {
  if (halves_.empty()) return;
  const model::RankTimeline& t = builder_.timeline();
  std::sort(halves_.begin(), halves_.end(), [&t](const HalfRow& a, const HalfRow& b) {
    if (a.row.thread != b.row.thread) return a.row.thread < b.row.thread;
    if (a.row.start != b.row.start) return a.row.start < b.row.start;
    if (a.begins != b.begins) return b.begins;
    return std::make_tuple(t.name(a.row.name), a.category, a.row.correlation) <
           std::make_tuple(t.name(b.row.name), b.category, b.row.correlation);
  });
  std::vector<const HalfRow*> open;
  for (std::size_t i = 0; i < halves_.size();) {
    const HalfRow& first = halves_[i];
    std::size_t end = i;
    std::vector<const HalfRow*> early;  // ends of empty ranges that begin at the same time
    for (; end < halves_.size() && halves_[end].row.thread == first.row.thread &&
           halves_[end].row.start == first.row.start;
         ++end) {
      const HalfRow& half = halves_[end];
      if (half.begins) {
        open.push_back(&half);
      } else if (!open.empty()) {
        close_half(*open.back(), half);
        open.pop_back();
      } else {
        early.push_back(&half);
      }
    }
    for (const HalfRow* half : early) {
      if (open.empty()) {
        mishaps_.add(Mishap::kUnmatchedEnd, half->offset);
      } else {
        close_half(*open.back(), *half);
        open.pop_back();
      }
    }
    i = end;
    if (i == halves_.size() || halves_[i].row.thread != first.row.thread) {
      for (const HalfRow* half : open) mishaps_.add(Mishap::kUnmatchedBegin, half->offset);
      open.clear();
    }
  }
  halves_ = {};
}

void RankAssembler::close_half(const HalfRow& begin, const HalfRow& end) {
  const HostRow& row = begin.row;
  const auto thread = static_cast<model::ThreadId>(row.thread);
  switch (begin.category) {
    case Category::kCpuOp:
      builder_.add_host_op(row.start, end.row.start, row.name, thread, row.shapes, row.dtypes);
      break;
    case Category::kApi:
      builder_.add_api_call(row.start, end.row.start, row.name, thread, row.correlation);
      break;
    case Category::kPython:
      builder_.add_python(row.start, end.row.start, row.name, thread);
      break;
    case Category::kAnnotation:
    case Category::kNone:
      builder_.add_annotation(row.start, end.row.start, row.name, thread);
      break;
    default:
      mishaps_.add(Mishap::kUnknownCategory, begin.offset);
  }
}

// Only threads that did something have a row; names of others (device streams) are not needed.
void RankAssembler::name_threads() {
  // Several names for one thread: the last in the order of the alphabet, whatever their order was.
  std::sort(thread_names_.begin(), thread_names_.end(),
            [](const NamedThread& a, const NamedThread& b) {
              return std::tie(a.pid, a.tid, a.name) < std::tie(b.pid, b.tid, b.name);
            });
  for (model::Thread& thread : builder_.timeline().threads) {
    const auto at = std::upper_bound(thread_names_.begin(), thread_names_.end(), thread,
                                     [](const model::Thread& a, const NamedThread& b) {
                                       return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
                                     });
    if (at == thread_names_.begin()) continue;
    const NamedThread& named = *std::prev(at);
    if (named.pid == thread.pid && named.tid == thread.tid) thread.name = named.name;
  }
}

void RankAssembler::shift_times(std::int64_t by) {
  model::RankTimeline& t = builder_.timeline();
  for (auto* column : {&t.activities.start, &t.activities.end, &t.api_calls.start, &t.api_calls.end,
                       &t.host_ops.start, &t.host_ops.end, &t.annotations.start, &t.annotations.end,
                       &t.python.start, &t.python.end, &t.syncs.start, &t.syncs.end,
                       &t.profiler_overhead.start, &t.profiler_overhead.end, &t.memory.time}) {
    for (model::TimeNs& time : *column) time += by;
  }
  if (t.profiler_span) {
    t.profiler_span->start += by;
    t.profiler_span->end += by;
  }
}

}  // namespace pyrometer::importers::kineto
