// Host time between items: what the host did there, and how much of it is the profiler's.
#include <algorithm>

#include "analysis/dilation_events.h"
#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis::graph {
namespace {

using model::Index;
using model::kNone;
using model::RowRange;
using model::TimeNs;

// A wait for a loader in other processes below this does not show that the loader was the
// bottleneck.
constexpr TimeNs kMinLoaderWait = 100'000;

HostRegion region_of(HostState state) {
  switch (state) {
    case HostState::kInput:
      return HostRegion::kInput;
    case HostState::kCheckpoint:
      return HostRegion::kCheckpoint;
    case HostState::kValidation:
      return HostRegion::kValidation;
    case HostState::kCompile:
      return HostRegion::kCompile;
    case HostState::kGc:
      return HostRegion::kGc;
    case HostState::kLogging:
      return HostRegion::kLogging;
    default:
      return HostRegion::kNone;
  }
}

float& slot(RegionTimes& times, HostRegion region) {
  switch (region) {
    case HostRegion::kInput:
      return times.input;
    case HostRegion::kValidation:
      return times.validation;
    case HostRegion::kCompile:
      return times.compile;
    case HostRegion::kGc:
      return times.gc;
    case HostRegion::kLogging:
      return times.logging;
    default:
      return times.checkpoint;
  }
}

RegionTimes& regions_of(Chunk& chunk, GraphItem& item) {
  if (item.regions == kNone) {
    item.regions = static_cast<Index>(chunk.graph.regions.size());
    chunk.graph.regions.emplace_back();
  }
  return chunk.graph.regions[item.regions];
}

HostRegion region_of(model::Cause cause) {
  switch (cause) {
    case model::Cause::kIdleInput:
      return HostRegion::kInput;
    case model::Cause::kIdleCheckpoint:
      return HostRegion::kCheckpoint;
    case model::Cause::kIdleValidation:
      return HostRegion::kValidation;
    case model::Cause::kIdleCompile:
      return HostRegion::kCompile;
    case model::Cause::kIdleGc:
      return HostRegion::kGc;
    case model::Cause::kIdleLogging:
      return HostRegion::kLogging;
    default:
      return HostRegion::kNone;
  }
}

// Splits host time by what the thread did, with the pauses that the trace does not name.
class GapSplitter {
 public:
  explicit GapSplitter(Chunk& chunk) : chunk_(chunk), inferred_(chunk.analysis.pauses.inferred) {}

  // Calls visit(region, in operators or calls, from, to) for parts that tile the span.
  template <typename Visit>
  void split(model::ThreadId thread, model::Interval span, Visit visit) const {
    chunk_.states.split(thread, span, [&](HostState state, TimeNs from, TimeNs to) {
      const HostRegion region = region_of(state);
      if (region != HostRegion::kNone) {
        visit(region, false, from, to);
        return;
      }
      const bool issuing = state != HostState::kNone;
      auto next = std::partition_point(inferred_.begin(), inferred_.end(),
                                       [from](const auto& r) { return r.span.end <= from; });
      for (; next != inferred_.end() && start_of(*next, span) < to; ++next) {
        const TimeNs begin = std::max(from, start_of(*next, span));
        if (begin > from) visit(HostRegion::kNone, issuing, from, begin);
        from = std::min(to, next->span.end);
        visit(region_of(next->cause), issuing, begin, from);
      }
      if (from < to) visit(HostRegion::kNone, issuing, from, to);
    });
  }

 private:
  // What the host prepares right before the copies of a checkpoint (the list of tensors, the file)
  // belongs to it, but the pattern only shows from the first copy on, which ends the gap.
  static TimeNs start_of(const model::InferredRegion& region, model::Interval gap) {
    constexpr TimeNs kPreparation = 5'000'000;
    const bool prepared = region.cause == model::Cause::kIdleCheckpoint &&
                          region.span.start <= gap.end &&
                          region.span.start - gap.start >= kPreparation;
    return prepared ? gap.start : region.span.start;
  }

  Chunk& chunk_;
  const std::vector<model::InferredRegion>& inferred_;
};

// Splits every gap by what its thread did.
void split_gaps(Chunk& chunk) {
  const bool other_processes = chunk.analysis.pauses.input.kind == model::LoaderKind::kMultiProcess;
  const GapSplitter splitter(chunk);
  TimeNs last_delivery = 0;  // end of the last wait that the loader was the cause of
  const std::vector<model::Interval>& ready = chunk.analysis.pauses.input.ready;
  // Whether the batch had come before the wait that contains `time`.
  const auto was_ready = [&ready](TimeNs time) {
    const auto after = std::partition_point(
        ready.begin(), ready.end(), [time](const model::Interval& r) { return r.end <= time; });
    return after != ready.end() && after->start <= time;
  };
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    GraphItem& item = chunk.item(i);
    const ItemTimes& times = chunk.times[i];
    TimeNs ops = 0;
    TimeNs other = 0;
    TimeNs input = 0;
    TimeNs input_end = 0;
    const auto add = [&](HostRegion region, bool issuing, TimeNs from, TimeNs to) {
      if (region == HostRegion::kNone) {
        (issuing ? ops : other) += to - from;
        return;
      }
      slot(regions_of(chunk, item), region) += static_cast<float>(to - from);
      if (region == HostRegion::kInput) {
        input += to - from;
        input_end = to;
      }
    };
    if (times.start > times.before) {
      splitter.split(times.thread, {times.before, times.start}, add);
    }
    item.ops = static_cast<float>(ops);
    item.other = static_cast<float>(other);
    if (other_processes && chunk.timeline.activities.size() == 0) {
      // Without a device an item is a whole step: where it waited, the loader's batches came as far
      // apart as the step was long.
      const bool waited = input >= kMinLoaderWait && !was_ready(input_end - 1);
      RegionTimes& regions = regions_of(chunk, item);
      regions.from_other_process = true;
      if (waited) regions.input_period = static_cast<float>(ops + other) + regions.total();
    } else if (other_processes && input > 0 && was_ready(input_end - 1)) {
      last_delivery = 0;  // when it was delivered is not known
    } else if (other_processes && input >= kMinLoaderWait) {
      RegionTimes& regions = regions_of(chunk, item);
      regions.from_other_process = true;
      if (last_delivery != 0) regions.input_period = static_cast<float>(input_end - last_delivery);
      last_delivery = input_end;
    }
    if (item.kind != ItemKind::kStepEnd) {
      const auto at_call = [&](HostRegion region, bool, TimeNs, TimeNs) { item.region = region; };
      splitter.split(times.thread, {times.start, times.start + 1}, at_call);
    }
  }
}

// Walks the rows of a thread that start within the chunk together with the gaps that hold their
// starts. visit(row, item position).
template <typename Visit>
void for_each_in_gaps(Chunk& chunk, const std::vector<TimeNs>& starts, RowRange rows, Visit visit) {
  std::size_t at = 0;
  for (Index row = first_from(starts, rows, chunk.start); row < rows.end; ++row) {
    const TimeNs start = starts[row];
    while (at < chunk.size() && chunk.times[at].end <= start) ++at;
    if (at == chunk.size()) return;
    visit(row, at);
  }
}

// Operators that launch nothing, at the outermost level: their time moves from ops to cpu_ops.
void separate_cpu_ops(Chunk& chunk) {
  const auto& ops = chunk.timeline.host_ops;
  std::vector<Index> launching;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const Index op = outermost_op(chunk.timeline, chunk.item(i).call);
    if (op != kNone) launching.push_back(op);
  }
  std::sort(launching.begin(), launching.end());
  for (const model::ThreadId thread : chunk.threads) {
    const RowRange rows = chunk.timeline.threads[thread].host_ops;
    auto next = std::lower_bound(launching.begin(), launching.end(), rows.begin);
    for_each_in_gaps(chunk, ops.start, rows, [&](Index row, std::size_t at) {
      if (ops.parent[row] != kNone) return;
      while (next != launching.end() && *next < row) ++next;
      if (next != launching.end() && *next == row) return;
      GraphItem& item = chunk.item(at);
      const TimeNs from = std::max(ops.start[row], chunk.times[at].before);
      const TimeNs to = std::min(ops.end[row], chunk.times[at].start);
      const float time = std::min(item.ops, static_cast<float>(std::max<TimeNs>(0, to - from)));
      item.ops -= time;
      item.cpu_ops += time;
    });
  }
}

bool issues_collectives(std::string_view name) {
  return name.starts_with("c10d::") || name.starts_with("torch::distributed::reducer");
}

// Operators of collectives (the launch is only part of what they do): their time moves from ops to
// comm_ops, also where it lies after the launch, in the gap of the next item.
void separate_comm_ops(Chunk& chunk) {
  const auto& ops = chunk.timeline.host_ops;
  std::vector<char> known(chunk.timeline.names.size(), 2);  // 2: not looked at yet
  for (const model::ThreadId thread : chunk.threads) {
    const RowRange rows = chunk.timeline.threads[thread].host_ops;
    TimeNs done = 0;  // nested ones are part of those around them
    for_each_in_gaps(chunk, ops.start, rows, [&](Index row, std::size_t at) {
      char& is_comm = known[ops.name[row]];
      if (is_comm == 2) is_comm = issues_collectives(chunk.timeline.name(ops.name[row])) ? 1 : 0;
      if (is_comm == 0 || ops.start[row] < done) return;
      done = ops.end[row];
      for (; at < chunk.size() && chunk.times[at].before < done; ++at) {
        GraphItem& item = chunk.item(at);
        const TimeNs from = std::max(ops.start[row], chunk.times[at].before);
        const TimeNs to = std::min(done, chunk.times[at].start);
        const float time = std::min(item.ops, static_cast<float>(std::max<TimeNs>(0, to - from)));
        item.ops -= time;
        item.comm_ops += time;
      }
    });
  }
}

float gap_length(const Chunk& chunk, const GraphItem& item) {
  const float regions = item.regions == kNone ? 0 : chunk.graph.regions[item.regions].total();
  return item.ops + item.cpu_ops + item.comm_ops + item.other + regions;
}

}  // namespace

void measure_host(Chunk& chunk) {
  split_gaps(chunk);
  separate_comm_ops(chunk);
  separate_cpu_ops(chunk);
}

void attribute_profiler_time(Chunk& chunk) {
  const model::Dilation& d = chunk.analysis.dilation;
  const std::array<double, 3> shares{d.share_low, d.share, d.share_high};
  std::vector<ProfilerTime> taken(chunk.size(), ProfilerTime{});
  std::vector<char> loading(chunk.size(), 0);
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const GraphItem& item = chunk.item(i);
    if (item.regions == kNone) continue;
    loading[i] = chunk.graph.regions[item.regions].input > gap_length(chunk, item) / 2 ? 1 : 0;
  }
  for (const model::ThreadId id : chunk.threads) {
    std::size_t at = 0;
    const auto add = [&](TimeNs start, TimeNs next) {
      while (at < chunk.size() && chunk.times[at].end <= start) ++at;
      if (at == chunk.size()) return false;
      const ProfilerTime time = profiler_time(d, next - start, loading[at] != 0);
      for (std::size_t k = 0; k < time.size(); ++k) taken[at][k] += time[k];
      return true;
    };
    for_each_event(chunk.timeline, chunk.timeline.threads[id], chunk.start, add);
  }
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    GraphItem& item = chunk.item(i);
    const double host = gap_length(chunk, item) + item.own;
    for (std::size_t k = 0; k < 3; ++k) {
      if (host > 0) item.profiler[k] = static_cast<float>(std::min(taken[i][k] / host, shares[k]));
    }
  }
}

void name_paths(Chunk& chunk) {
  const model::RankTimeline& t = chunk.timeline;
  struct Cursor {
    Index next = 0;
    Index end = 0;
    std::vector<std::pair<TimeNs, std::uint16_t>> open;  // end, path
  };
  std::vector<Cursor> cursors(t.threads.size());
  for (std::size_t i = 0; i < t.threads.size(); ++i) {
    // Ranges that began before the chunk are few; walking them keeps the enclosing ones.
    cursors[i] = {t.threads[i].annotations.begin, t.threads[i].annotations.end, {}};
  }
  const auto path_at = [&](model::ThreadId thread, TimeNs time) -> std::uint16_t {
    Cursor& c = cursors[thread];
    for (; c.next < c.end && t.annotations.start[c.next] <= time; ++c.next) {
      while (!c.open.empty() && c.open.back().first <= t.annotations.start[c.next]) {
        c.open.pop_back();
      }
      if (t.name(t.annotations.name[c.next]).starts_with("ProfilerStep#")) continue;
      const std::uint16_t parent = c.open.empty() ? std::uint16_t{0} : c.open.back().second;
      c.open.emplace_back(t.annotations.end[c.next],
                          chunk.dictionaries.path(parent, t.annotations.name[c.next]));
    }
    while (!c.open.empty() && c.open.back().first <= time) c.open.pop_back();
    return c.open.empty() ? std::uint16_t{0} : c.open.back().second;
  };
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const ItemTimes& times = chunk.times[i];
    GraphItem& item = chunk.item(i);
    item.path = path_at(times.thread, times.start);
    if (item.path == 0 && times.thread != t.main_thread) {
      item.path = path_at(t.main_thread, times.start);
    }
  }
}

}  // namespace pyrometer::analysis::graph
