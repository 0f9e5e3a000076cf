// Which host calls become items, in which order, and which activities they launch.
#include <algorithm>
#include <set>

#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis::graph {
namespace {

using model::ActivityKind;
using model::ApiClass;
using model::Index;
using model::kNone;
using model::RowRange;
using model::TimeNs;

struct Call {
  TimeNs order = 0;  // where it stands in the chain
  TimeNs start = 0;
  TimeNs end = 0;
  Index call = kNone;  // kNone: end of a step
  model::ThreadId thread = 0;
  ItemKind kind = ItemKind::kLaunch;
};

bool is_sync(ApiClass klass) {
  return klass == ApiClass::kStreamSync || klass == ApiClass::kDeviceSync ||
         klass == ApiClass::kEventSync;
}

// False when the call is no item of its own, only part of the host's time.
bool kind_of(const Chunk& chunk, Index call, ItemKind& kind) {
  const auto& calls = chunk.timeline.api_calls;
  if (calls.activity_count[call] > 0) {
    kind = ItemKind::kLaunch;
    return true;
  }
  const ApiClass klass = chunk.analysis.api_class[calls.name[call]];
  if (is_sync(klass)) {
    kind = ItemKind::kSync;
    return true;
  }
  kind = ItemKind::kAlloc;
  return klass == ApiClass::kAlloc || klass == ApiClass::kFree || klass == ApiClass::kHostAlloc;
}

RowRange calls_within(const Chunk& chunk, const model::Thread& thread) {
  const auto& starts = chunk.timeline.api_calls.start;
  return {first_from(starts, thread.api_calls, chunk.start),
          first_from(starts, thread.api_calls, chunk.step_host_end.back())};
}

// The main thread and every thread that launches something.
void find_threads(Chunk& chunk) {
  const model::RankTimeline& t = chunk.timeline;
  for (std::size_t i = 0; i < t.threads.size(); ++i) {
    const auto id = static_cast<model::ThreadId>(i);
    const RowRange rows = calls_within(chunk, t.threads[i]);
    bool launches = id == t.main_thread;
    for (Index c = rows.begin; c < rows.end && !launches; ++c) {
      launches = t.api_calls.activity_count[c] > 0;
    }
    if (launches) chunk.threads.push_back(id);
  }
}

std::vector<Call> calls_of_chunk(const Chunk& chunk) {
  const model::RankTimeline& t = chunk.timeline;
  std::vector<Call> calls;
  for (const model::ThreadId thread : chunk.threads) {
    const RowRange rows = calls_within(chunk, t.threads[thread]);
    for (Index c = rows.begin; c < rows.end; ++c) {
      ItemKind kind{};
      if (!kind_of(chunk, c, kind)) continue;
      calls.push_back(
          {t.api_calls.start[c], t.api_calls.start[c], t.api_calls.end[c], c, thread, kind});
    }
  }
  for (const TimeNs end : chunk.step_host_end) {
    calls.push_back({end, end, end, kNone, t.main_thread, ItemKind::kStepEnd});
  }
  return calls;
}

void sort_calls(std::vector<Call>& calls) {
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    if (a.order != b.order) return a.order < b.order;
    if ((a.kind == ItemKind::kStepEnd) != (b.kind == ItemKind::kStepEnd)) {
      return a.kind == ItemKind::kStepEnd;
    }
    return a.call < b.call;
  });
}

// A thread may wait while another goes on launching. If the waiting thread is the lesser one, its
// wait does not hold the chain up and is left out; else it counts where it ends.
void settle_foreign_waits(const Chunk& chunk, std::vector<Call>& calls) {
  std::vector<std::size_t> launches(chunk.timeline.threads.size(), 0);
  for (const Call& call : calls) launches[call.thread] += call.kind == ItemKind::kLaunch ? 1 : 0;
  std::vector<Call> kept;
  kept.reserve(calls.size());
  bool moved = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Call call = calls[i];
    if (call.kind == ItemKind::kSync) {
      std::size_t j = i + 1;
      while (j < calls.size() && calls[j].start < call.end &&
             (calls[j].kind != ItemKind::kLaunch || calls[j].thread == call.thread)) {
        ++j;
      }
      if (j < calls.size() && calls[j].start < call.end) {
        if (launches[call.thread] < launches[calls[j].thread]) continue;
        call.order = call.end;
        moved = true;
      }
    }
    kept.push_back(call);
  }
  calls = std::move(kept);
  if (moved) sort_calls(calls);
}

ActivityRole role_of(const Chunk& chunk, Index row) {
  const auto& a = chunk.timeline.activities;
  if (a.kind[row] == ActivityKind::kCopy) {
    if (a.copy[row] == model::CopyKind::kH2D) return ActivityRole::kH2D;
    if (a.copy[row] == model::CopyKind::kD2H) return ActivityRole::kD2H;
    return ActivityRole::kOtherCopy;
  }
  const bool comm = chunk.analysis.kernel_traits[a.name[row]].klass == model::KernelClass::kComm;
  return comm ? ActivityRole::kComm : ActivityRole::kKernel;
}

// Blocks per multiprocessor, -1 when either is unknown.
float waves_of(const Chunk& chunk, Index row) {
  const auto& a = chunk.timeline.activities;
  const std::int32_t sms = chunk.timeline.devices[a.device[row]].multiprocessors;
  if (a.kind[row] != ActivityKind::kKernel || a.detail[row] == kNone || sms <= 0) return -1;
  const model::KernelConfig& config = chunk.timeline.kernel_configs[a.detail[row]];
  const double blocks = double{1} * config.grid[0] * config.grid[1] * config.grid[2];
  return blocks > 0 ? static_cast<float>(blocks / sms) : -1;
}

// Of a collective, what is left of it once the last rank has arrived.
float transfer_of(const Chunk& chunk, Index row) {
  const auto& a = chunk.timeline.activities;
  const auto& arrivals = chunk.analysis.comm.last_arrival;
  const TimeNs arrival = row < arrivals.size() ? arrivals[row] : model::kUnknownArrival;
  return static_cast<float>(a.end[row] - std::clamp(arrival, a.start[row], a.end[row]));
}

void add_activity(Chunk& chunk, Index row) {
  const auto& a = chunk.timeline.activities;
  GraphActivity activity;
  activity.duration = static_cast<float>(a.duration(row));
  activity.row = row;
  activity.stream = chunk.dictionaries.stream(a.device[row], a.stream[row]);
  activity.name = chunk.dictionaries.name(a.name[row]);
  activity.role = role_of(chunk, row);
  activity.waves = waves_of(chunk, row);
  activity.transfer = transfer_of(chunk, row);
  chunk.graph.activities.push_back(activity);
}

// Rows launched by `call`: those of a CUDA graph lie scattered, but after the first.
void add_launched(Chunk& chunk, Index call) {
  const auto& a = chunk.timeline.activities;
  std::uint32_t left = chunk.timeline.api_calls.activity_count[call];
  if (left == 1) {
    add_activity(chunk, chunk.timeline.api_calls.first_activity[call]);
    return;
  }
  // Damaged traces link far rows to one call; looking for all of them could take forever.
  constexpr Index kReach = 4096;
  const Index first = chunk.timeline.api_calls.first_activity[call];
  const Index last = std::min(a.size(), first + kReach + 16 * left);
  std::vector<Index> rows;
  for (Index row = first; left > 0 && row < last; ++row) {
    if (a.launch[row] != call) continue;
    rows.push_back(row);
    --left;
  }
  std::sort(rows.begin(), rows.end(), [&a](Index x, Index y) {
    return a.start[x] != a.start[y] ? a.start[x] < a.start[y] : x < y;
  });
  for (const Index row : rows) add_activity(chunk, row);
}

// Activities whose launch was not seen, by start; they ride on the item before them. Those before
// the first own work of their stream were launched before the chunk: they only keep the stream
// busy.
std::vector<Index> unlinked_rows(const Chunk& chunk) {
  const auto& a = chunk.timeline.activities;
  std::vector<Index> rows;
  for (const model::Device& device : chunk.timeline.devices) {
    const Index begin = first_from(a.start, device.activities, chunk.start);
    const Index end = first_from(a.start, device.activities, chunk.step_host_end.back());
    const auto launches = a.launch.begin();
    if (std::find(launches + begin, launches + end, kNone) == launches + end) continue;
    std::set<std::int32_t> reached;
    for (Index i = begin; i < end; ++i) {
      const Index call = a.launch[i];
      if (call != kNone) {
        if (chunk.timeline.api_calls.start[call] >= chunk.start) reached.insert(a.stream[i]);
      } else if (reached.contains(a.stream[i])) {
        rows.push_back(i);
      }
    }
  }
  std::sort(rows.begin(), rows.end(), [&a](Index x, Index y) {
    return a.start[x] != a.start[y] ? a.start[x] < a.start[y] : x < y;
  });
  return rows;
}

}  // namespace

void collect_items(Chunk& chunk) {
  find_threads(chunk);
  std::vector<Call> calls = calls_of_chunk(chunk);
  sort_calls(calls);
  settle_foreign_waits(chunk, calls);
  const std::vector<Index> unlinked = unlinked_rows(chunk);
  std::size_t next_unlinked = 0;
  chunk.first_item = static_cast<Index>(chunk.graph.items.size());
  TimeNs done = chunk.start;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    GraphItem item;
    item.kind = call.kind;
    item.call = call.call;
    item.first_activity = static_cast<Index>(chunk.graph.activities.size());
    if (call.kind == ItemKind::kLaunch) add_launched(chunk, call.call);
    const TimeNs until = i + 1 < calls.size() ? calls[i + 1].start : call.end;
    while (next_unlinked < unlinked.size() &&
           chunk.timeline.activities.start[unlinked[next_unlinked]] < until) {
      add_activity(chunk, unlinked[next_unlinked++]);
    }
    item.activity_count =
        static_cast<std::uint32_t>(chunk.graph.activities.size()) - item.first_activity;
    chunk.graph.items.push_back(item);
    const TimeNs end = std::max(done, call.end);
    chunk.times.push_back({done, call.start, end, call.thread});
    done = end;
  }
}

}  // namespace pyrometer::analysis::graph
