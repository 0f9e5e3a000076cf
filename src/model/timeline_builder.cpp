#include "model/timeline_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "model/sort_rows.h"
#include "model/time_outliers.h"
#include "model/timeline_links.h"

namespace pyrometer::model {
namespace {

constexpr std::size_t kMaxThreads = std::numeric_limits<ThreadId>::max();
constexpr std::size_t kMaxDevices = std::numeric_limits<DeviceId>::max();

// Rows of `group` values 0…count-1 in a table sorted by group.
template <typename Owner, typename Member>
void set_ranges(const std::vector<std::uint16_t>& group, std::vector<Owner>& owners,
                Member member) {
  const auto n = static_cast<Index>(group.size());
  for (Owner& owner : owners) owner.*member = RowRange{};
  for (Index i = 0; i < n;) {
    Index j = i;
    while (j < n && group[j] == group[i]) ++j;
    owners[group[i]].*member = RowRange{i, j};
    i = j;
  }
}

// The position of each old row after sorting `order`.
std::vector<std::uint16_t> inverse(const std::vector<std::uint16_t>& order) {
  std::vector<std::uint16_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::uint16_t>(i);
  return place;
}

void renumber(std::vector<std::uint16_t>& column, const std::vector<std::uint16_t>& place) {
  for (std::uint16_t& id : column) id = place[id];
}

// Threads by (pid, tid) and devices by ordinal, so that ids do not depend on the input's order.
void sort_threads(RankTimeline& t) {
  std::vector<std::uint16_t> order(t.threads.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
    const Thread& x = t.threads[a];
    const Thread& y = t.threads[b];
    // Shorter numbers are smaller numbers: sorts "9" before "10" without parsing.
    return std::make_tuple(x.pid, x.tid.size(), std::string_view(x.tid)) <
           std::make_tuple(y.pid, y.tid.size(), std::string_view(y.tid));
  });
  if (std::is_sorted(order.begin(), order.end())) return;
  const auto place = inverse(order);
  std::vector<Thread> sorted;
  for (const std::uint16_t i : order) sorted.push_back(std::move(t.threads[i]));
  t.threads = std::move(sorted);
  for (auto* column : {&t.api_calls.thread, &t.host_ops.thread, &t.annotations.thread,
                       &t.python.thread, &t.profiler_overhead.thread}) {
    renumber(*column, place);
  }
}

void sort_devices(RankTimeline& t) {
  std::vector<std::uint16_t> order(t.devices.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
    return t.devices[a].ordinal < t.devices[b].ordinal;
  });
  if (std::is_sorted(order.begin(), order.end())) return;
  const auto place = inverse(order);
  std::vector<Device> sorted;
  for (const std::uint16_t i : order) sorted.push_back(std::move(t.devices[i]));
  t.devices = std::move(sorted);
  renumber(t.activities.device, place);
  renumber(t.syncs.device, place);
}

// What a row's detail and comm say, so that rows which differ only there have an order too.
std::tuple<std::int64_t, std::int64_t, std::int64_t> detail_key(const RankTimeline& t, Index row) {
  const ActivityTable& a = t.activities;
  std::int64_t detail = -1;
  std::int64_t sequence = -1;
  std::int64_t elements = -1;
  if (a.detail[row] != kNone) {
    if (a.kind[row] == ActivityKind::kKernel) {
      const KernelConfig& c = t.kernel_configs[a.detail[row]];
      detail = (std::int64_t{c.grid[0]} << 24) + (std::int64_t{c.grid[1]} << 12) + c.grid[2];
      elements = c.block[0];
    } else {
      detail = t.copy_bytes[a.detail[row]];
    }
  }
  if (a.comm[row] != kNone) {
    sequence = t.comm_details[a.comm[row]].sequence;
    elements = t.comm_details[a.comm[row]].in_elements;
  }
  return {detail, sequence, elements};
}

void sort_activities(RankTimeline& t, std::vector<std::uint64_t>& correlation) {
  ActivityTable& a = t.activities;
  const auto less = [&](Index x, Index y) {
    if (a.end[x] != a.end[y]) return a.end[x] < a.end[y];
    if (a.stream[x] != a.stream[y]) return a.stream[x] < a.stream[y];
    if (a.name[x] != a.name[y]) return t.name(a.name[x]) < t.name(a.name[y]);
    if (correlation[x] != correlation[y]) return correlation[x] < correlation[y];
    if (a.graph_node[x] != a.graph_node[y]) return a.graph_node[x] < a.graph_node[y];
    if (a.kind[x] != a.kind[y]) return a.kind[x] < a.kind[y];
    return detail_key(t, x) < detail_key(t, y);
  };
  apply_order(sorted_order(a.start, a.device, less), a.start, a.end, a.name, a.stream, a.detail,
              a.comm, a.device, a.kind, a.copy, a.host_memory, a.graph_node, correlation);
}

// Longer rows first among equal starts: an enclosing range precedes what it contains.
template <typename Table, typename Extra>
auto enclosing_first(const RankTimeline& t, const Table& table, Extra extra) {
  return [&t, &table, extra](Index x, Index y) {
    if (table.end[x] != table.end[y]) return table.end[x] > table.end[y];
    if (table.name[x] != table.name[y]) return t.name(table.name[x]) < t.name(table.name[y]);
    return extra(x, y);
  };
}

void sort_ranges(const RankTimeline& t, RangeTable& table) {
  const auto equal = [](Index, Index) { return false; };
  apply_order(sorted_order(table.start, table.thread, enclosing_first(t, table, equal)),
              table.start, table.end, table.name, table.thread);
}

void sort_host(RankTimeline& t) {
  ApiCallTable& calls = t.api_calls;
  const auto by_correlation = [&calls](Index x, Index y) {
    return calls.correlation[x] < calls.correlation[y];
  };
  apply_order(sorted_order(calls.start, calls.thread, enclosing_first(t, calls, by_correlation)),
              calls.start, calls.end, calls.name, calls.thread, calls.correlation);
  HostOpTable& ops = t.host_ops;
  const auto by_shapes = [&](Index x, Index y) {
    if (ops.shapes[x] != ops.shapes[y]) return t.name(ops.shapes[x]) < t.name(ops.shapes[y]);
    return t.name(ops.dtypes[x]) < t.name(ops.dtypes[y]);
  };
  apply_order(sorted_order(ops.start, ops.thread, enclosing_first(t, ops, by_shapes)), ops.start,
              ops.end, ops.name, ops.thread, ops.shapes, ops.dtypes);
  sort_ranges(t, t.annotations);
  sort_ranges(t, t.python);
  sort_ranges(t, t.profiler_overhead);
}

void sort_syncs(RankTimeline& t) {
  SyncTable& s = t.syncs;
  const auto less = [&](Index x, Index y) {
    if (s.end[x] != s.end[y]) return s.end[x] < s.end[y];
    if (s.name[x] != s.name[y]) return t.name(s.name[x]) < t.name(s.name[y]);
    return std::tie(s.stream[x], s.device[x], s.correlation[x]) <
           std::tie(s.stream[y], s.device[y], s.correlation[y]);
  };
  apply_order(sorted_order(s.start, {}, less), s.start, s.end, s.name, s.stream, s.device,
              s.correlation);
}

void sort_memory(RankTimeline& t) {
  MemoryTable& m = t.memory;
  const auto less = [&m](Index x, Index y) {
    return std::tie(m.device[x], m.bytes[x], m.total_allocated[x], m.total_reserved[x]) <
           std::tie(m.device[y], m.bytes[y], m.total_allocated[y], m.total_reserved[y]);
  };
  apply_order(sorted_order(m.time, {}, less), m.time, m.bytes, m.total_allocated, m.total_reserved,
              m.device);
}

}  // namespace

TimelineBuilder::TimelineBuilder() = default;

ThreadId TimelineBuilder::thread(std::int64_t pid, std::string_view tid) {
  std::vector<Thread>& threads = timeline_.threads;
  if (last_thread_ < threads.size() && threads[last_thread_].pid == pid &&
      threads[last_thread_].tid == tid) {
    return static_cast<ThreadId>(last_thread_);
  }
  const auto [at, is_new] =
      thread_ids_.try_emplace({pid, std::string(tid)}, static_cast<ThreadId>(threads.size()));
  if (is_new) {
    if (threads.size() >= kMaxThreads) {
      at->second = static_cast<ThreadId>(kMaxThreads - 1);
      timeline_.stats.add("too_many_threads", StatSeverity::kDataLoss, -1,
                          "more than 65,535 threads: the rest is shown as one");
    } else {
      threads.push_back(Thread{});
      threads.back().pid = pid;
      threads.back().tid = std::string(tid);
    }
  }
  last_thread_ = at->second;
  return at->second;
}

DeviceId TimelineBuilder::device(std::int32_t ordinal) {
  std::vector<Device>& devices = timeline_.devices;
  if (last_device_ < devices.size() && devices[last_device_].ordinal == ordinal) {
    return static_cast<DeviceId>(last_device_);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].ordinal == ordinal) {
      last_device_ = i;
      return static_cast<DeviceId>(i);
    }
  }
  if (devices.size() >= kMaxDevices) {
    timeline_.stats.add("too_many_devices", StatSeverity::kDataLoss, -1,
                        "more than 65,535 devices: the rest is shown as one");
    return static_cast<DeviceId>(kMaxDevices - 1);
  }
  devices.push_back(Device{});
  devices.back().ordinal = ordinal;
  last_device_ = devices.size() - 1;
  return static_cast<DeviceId>(last_device_);
}

void TimelineBuilder::add_activity(ActivityKind kind, TimeNs start, TimeNs end, NameId name,
                                   DeviceId device, std::int32_t stream, std::uint64_t correlation,
                                   CopyKind copy, HostMemory host, Index detail, Index comm,
                                   std::uint32_t graph_node) {
  ActivityTable& a = timeline_.activities;
  a.start.push_back(start);
  a.end.push_back(end);
  a.name.push_back(name);
  a.stream.push_back(stream);
  a.detail.push_back(detail);
  a.comm.push_back(comm);
  a.device.push_back(device);
  a.kind.push_back(kind);
  a.copy.push_back(copy);
  a.host_memory.push_back(host);
  a.graph_node.push_back(graph_node);
  activity_correlation_.push_back(correlation);
}

void TimelineBuilder::add_api_call(TimeNs start, TimeNs end, NameId name, ThreadId thread,
                                   std::uint64_t correlation) {
  ApiCallTable& c = timeline_.api_calls;
  c.start.push_back(start);
  c.end.push_back(end);
  c.name.push_back(name);
  c.thread.push_back(thread);
  c.correlation.push_back(correlation);
}

void TimelineBuilder::add_host_op(TimeNs start, TimeNs end, NameId name, ThreadId thread,
                                  NameId shapes, NameId dtypes) {
  HostOpTable& o = timeline_.host_ops;
  o.start.push_back(start);
  o.end.push_back(end);
  o.name.push_back(name);
  o.thread.push_back(thread);
  o.shapes.push_back(shapes);
  o.dtypes.push_back(dtypes);
}

void TimelineBuilder::add_annotation(TimeNs start, TimeNs end, NameId name, ThreadId thread) {
  RangeTable& r = timeline_.annotations;
  r.start.push_back(start);
  r.end.push_back(end);
  r.name.push_back(name);
  r.thread.push_back(thread);
}

void TimelineBuilder::add_python(TimeNs start, TimeNs end, NameId name, ThreadId thread) {
  RangeTable& r = timeline_.python;
  r.start.push_back(start);
  r.end.push_back(end);
  r.name.push_back(name);
  r.thread.push_back(thread);
}

RankTimeline TimelineBuilder::finish() {
  RankTimeline& t = timeline_;
  drop_time_outliers(t, activity_correlation_);
  sort_threads(t);
  sort_devices(t);
  sort_activities(t, activity_correlation_);
  sort_host(t);
  sort_syncs(t);
  sort_memory(t);
  set_ranges(t.activities.device, t.devices, &Device::activities);
  set_ranges(t.api_calls.thread, t.threads, &Thread::api_calls);
  set_ranges(t.host_ops.thread, t.threads, &Thread::host_ops);
  set_ranges(t.annotations.thread, t.threads, &Thread::annotations);
  set_ranges(t.python.thread, t.threads, &Thread::python);
  link_launches(t, activity_correlation_);
  link_nesting(t);
  t.main_thread = find_main_thread(t);
  activity_correlation_ = {};
  return std::move(timeline_);
}

}  // namespace pyrometer::model
