#include "tests/support/timeline_text.h"

#include <fmt/format.h>

namespace pyrometer::testing {
namespace {

using model::Index;
using model::kNone;
using model::RankTimeline;

class Writer {
 public:
  explicit Writer(const RankTimeline& t) : t_(t) {}

  std::vector<std::string> run() {
    activities();
    host();
    ranges("annotation", t_.annotations);
    ranges("python", t_.python);
    ranges("overhead", t_.profiler_overhead);
    rest();
    return std::move(lines_);
  }

 private:
  static std::string row(Index i) { return i == kNone ? "-" : std::to_string(i); }

  std::string detail(Index i) const {
    const model::ActivityTable& a = t_.activities;
    if (a.detail[i] == kNone) return "-";
    if (a.kind[i] != model::ActivityKind::kKernel) {
      return std::to_string(t_.copy_bytes[a.detail[i]]);
    }
    const model::KernelConfig& c = t_.kernel_configs[a.detail[i]];
    return fmt::format("[{} {} {}][{} {} {}] {} {} {} {}", c.grid[0], c.grid[1], c.grid[2],
                       c.block[0], c.block[1], c.block[2], c.registers_per_thread,
                       c.shared_memory_bytes, c.occupancy_pct, c.blocks_per_sm);
  }

  std::string comm(Index i) const {
    if (t_.activities.comm[i] == kNone) return "-";
    const model::CommDetail& c = t_.comm_details[t_.activities.comm[i]];
    return fmt::format("{} group {} {} {} in {} out {} seq {} size {}", t_.name(c.collective),
                       t_.name(c.process_group), t_.name(c.group_ranks), t_.name(c.dtype),
                       c.in_elements, c.out_elements, c.sequence, c.group_size);
  }

  std::string thread(model::ThreadId id) const {
    const model::Thread& thread = t_.threads[id];
    return fmt::format("{}/{}", thread.pid, thread.tid);
  }

  void activities() {
    const model::ActivityTable& a = t_.activities;
    for (Index i = 0; i < a.size(); ++i) {
      lines_.push_back(fmt::format(
          "activity {}..{} {} device {} stream {} kind {} copy {} host {} node {} launch {} "
          "detail {} comm {}",
          a.start[i], a.end[i], t_.name(a.name[i]), t_.devices[a.device[i]].ordinal, a.stream[i],
          static_cast<int>(a.kind[i]), static_cast<int>(a.copy[i]),
          static_cast<int>(a.host_memory[i]), a.graph_node[i], row(a.launch[i]), detail(i),
          comm(i)));
    }
  }

  void host() {
    const model::ApiCallTable& c = t_.api_calls;
    for (Index i = 0; i < c.size(); ++i) {
      lines_.push_back(fmt::format("call {}..{} {} thread {} correlation {} op {} first {} x{}",
                                   c.start[i], c.end[i], t_.name(c.name[i]), thread(c.thread[i]),
                                   c.correlation[i], row(c.op[i]), row(c.first_activity[i]),
                                   c.activity_count[i]));
    }
    const model::HostOpTable& o = t_.host_ops;
    for (Index i = 0; i < o.size(); ++i) {
      lines_.push_back(fmt::format("op {}..{} {} thread {} parent {} shapes {} types {}",
                                   o.start[i], o.end[i], t_.name(o.name[i]), thread(o.thread[i]),
                                   row(o.parent[i]), t_.name(o.shapes[i]), t_.name(o.dtypes[i])));
    }
  }

  void ranges(std::string_view what, const model::RangeTable& r) {
    for (Index i = 0; i < r.size(); ++i) {
      const bool has_thread = r.thread[i] < t_.threads.size();
      lines_.push_back(fmt::format("{} {}..{} {} thread {}", what, r.start[i], r.end[i],
                                   t_.name(r.name[i]), has_thread ? thread(r.thread[i]) : "-"));
    }
  }

  void rest() {
    for (Index i = 0; i < t_.syncs.size(); ++i) {
      lines_.push_back(fmt::format("sync {}..{} {} device {} stream {} correlation {}",
                                   t_.syncs.start[i], t_.syncs.end[i], t_.name(t_.syncs.name[i]),
                                   t_.devices[t_.syncs.device[i]].ordinal, t_.syncs.stream[i],
                                   t_.syncs.correlation[i]));
    }
    for (Index i = 0; i < t_.memory.size(); ++i) {
      lines_.push_back(fmt::format("memory {} {:+} allocated {} reserved {} device {}",
                                   t_.memory.time[i], t_.memory.bytes[i],
                                   t_.memory.total_allocated[i], t_.memory.total_reserved[i],
                                   t_.memory.device[i]));
    }
    for (const model::Thread& thread : t_.threads) {
      lines_.push_back(fmt::format("thread {}/{} '{}'", thread.pid, thread.tid, thread.name));
    }
    for (const model::Device& d : t_.devices) {
      lines_.push_back(fmt::format("device {} '{}' memory {} cc {}.{} SMs {}", d.ordinal, d.name,
                                   d.total_memory_bytes, d.compute_major, d.compute_minor,
                                   d.multiprocessors));
    }
    if (t_.profiler_span) {
      lines_.push_back(fmt::format("span {}..{}", t_.profiler_span->start, t_.profiler_span->end));
    }
    lines_.push_back(fmt::format("events {}", t_.info.event_count));
  }

  const RankTimeline& t_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> timeline_lines(const RankTimeline& timeline) {
  return Writer(timeline).run();
}

std::vector<std::string> counter_lines(const RankTimeline& timeline) {
  std::vector<std::string> lines;
  for (const model::ImportCounter& c : timeline.stats.counters()) {
    lines.push_back(fmt::format("{}={}", c.kind, c.count));
  }
  return lines;
}

}  // namespace pyrometer::testing
