// Edges: stream order, launch latency, dependencies between streams, and what host calls wait for.
//
// Each activity and each wait gets the constraint that bound it in the trace, with a typical delay
// for those that did not bind. What no constraint explains stays as a constant delay.
#include <algorithm>
#include <limits>
#include <optional>

#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis::graph {
namespace {

using model::ApiClass;
using model::Index;
using model::kNone;
using model::TimeNs;

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();
constexpr TimeNs kTolerance = 2'000;   // clock agreement of host and device records
constexpr TimeNs kBackToBack = 4'000;  // a start this soon after an end follows from it
constexpr TimeNs kDependencyWindow = 20'000;
constexpr TimeNs kSlowCall = 20'000;  // a launch call that takes longer may have been held up
constexpr int kMaxLook = 512;         // activities looked at for one edge: keeps the whole linear
constexpr std::size_t kFullQueue =
    256;  // outstanding launches from which it may be for a full queue

// The value below which `part` of the values lie; `fallback` when there are too few to tell.
float quantile_or(std::vector<float>& values, double part, float fallback) {
  constexpr std::size_t kEnough = 5;
  if (values.size() < kEnough) return fallback;
  const auto rank = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

struct Typical {
  float launch_call = 5'000;  // host time of a launch call
  float sync_call = 3'000;    // host time of a wait that need not wait
  float latency = 3'000;      // from the end of the launch call to the start on an idle device
  float gap = 1'000;          // between activities that follow each other on a stream
  float wake = 3'000;         // from the end of the awaited to the end of the wait
};

class Connector {
 public:
  explicit Connector(Chunk& chunk)
      : chunk_(chunk), a_(chunk.timeline.activities), activities_(chunk.graph.activities) {}

  void run() {
    chunk_begin_ = chunk_.size() == 0 ? 0 : chunk_.item(0).first_activity;
    stream_busy_ = busy_before();
    index_ends();
    collect_typical();
    blocking_launches_ = launches_block();
    auto busy = stream_busy_;
    last_launched_.assign(chunk_.graph.streams.size(), kNone);
    last_end_.assign(chunk_.graph.streams.size(), kNever);
    last_stream_of_thread_.assign(chunk_.timeline.threads.size(), kNone);
    for (std::size_t i = 0; i < chunk_.size(); ++i) {
      const TimeNs release = settle_wait(i);
      place_activities(i, release, busy);
    }
    add_chunk();
  }

 private:
  TimeNs start(Index i) const { return a_.start[activities_[i].row]; }
  TimeNs end(Index i) const { return a_.end[activities_[i].row]; }
  Index activity_end(const GraphItem& item) const {
    return item.first_activity + item.activity_count;
  }
  ApiClass klass(const GraphItem& item) const {
    return item.call == kNone
               ? ApiClass::kOther
               : chunk_.analysis.api_class[chunk_.timeline.api_calls.name[item.call]];
  }

  std::vector<TimeNs> busy_before() const;
  void index_ends();
  void collect_typical();
  [[nodiscard]] bool launches_block() const;
  TimeNs settle_wait(std::size_t i);
  void settle_sync(GraphItem& item, const ItemTimes& times);
  void settle_copy(GraphItem& item, const ItemTimes& times);
  void settle_blocking_launch(GraphItem& item, const ItemTimes& times);
  void settle_queue(GraphItem& item, const ItemTimes& times);
  void settle_alloc(GraphItem& item, const ItemTimes& times);
  void wait_until(GraphItem& item, const ItemTimes& times, Index awaited);
  Index last_ended(TimeNs from, TimeNs to, Index launched_before) const;
  void place_activities(std::size_t i, TimeNs release, std::vector<TimeNs>& busy);
  void place(GraphItem& item, Index i, TimeNs release, TimeNs previous);
  bool find_dependency(const GraphItem& item, Index i, TimeNs not_before);
  void add_chunk();

  Chunk& chunk_;
  const model::ActivityTable& a_;
  std::vector<GraphActivity>& activities_;
  Typical typical_;
  bool blocking_launches_ = false;
  Index chunk_begin_ = 0;
  std::vector<TimeNs> stream_busy_;  // by stream: end of the work from before the chunk
  std::vector<std::pair<TimeNs, Index>> by_end_;  // activities of the chunk
  std::vector<Index> last_launched_;              // by stream
  std::vector<TimeNs> last_end_;                  // by stream: latest end of what was launched
  std::vector<Index> last_stream_of_thread_;
};

// Work launched before the chunk that still ran or queued when it began. On each stream it lies
// before the chunk's own, so the scan ends once every stream has shown work of the chunk.
std::vector<TimeNs> Connector::busy_before() const {
  const auto& streams = chunk_.graph.streams;
  std::vector<TimeNs> busy(streams.size(), kNever);
  std::vector<bool> reached(streams.size(), false);
  std::vector<bool> used(streams.size(), false);
  for (Index i = chunk_begin_; i < activities_.size(); ++i) used[activities_[i].stream] = true;
  for (std::size_t d = 0; d < chunk_.timeline.devices.size(); ++d) {
    const model::RowRange rows = chunk_.timeline.devices[d].activities;
    const Index middle = first_from(a_.start, rows, chunk_.start);
    const auto look = [&](Index row) {
      const Index call = a_.launch[row];
      const std::uint16_t stream = chunk_.dictionaries.stream(a_.device[row], a_.stream[row]);
      if (stream >= busy.size()) return;  // a stream that the chunk does not use
      const bool own = call != kNone && chunk_.timeline.api_calls.start[call] >= chunk_.start;
      reached[stream] = reached[stream] || own;
      if (reached[stream] || a_.end[row] <= chunk_.start) return;
      busy[stream] = std::max(busy[stream], a_.end[row]);
    };
    constexpr Index kLookBack = 64;  // activities that may still run at the start
    const Index first = middle - rows.begin > kLookBack ? middle - kLookBack : rows.begin;
    for (Index row = first; row < middle; ++row) look(row);
    for (Index row = middle; row < rows.end; ++row) {
      look(row);
      const auto waiting = [&](std::size_t s) {
        return used[s] && !reached[s] && streams[s].device == d;
      };
      bool any = false;
      for (std::size_t s = 0; s < busy.size() && !any; ++s) any = waiting(s);
      if (!any) break;
    }
  }
  return busy;
}

void Connector::index_ends() {
  for (Index i = chunk_begin_; i < activities_.size(); ++i) by_end_.emplace_back(end(i), i);
  std::sort(by_end_.begin(), by_end_.end());
}

// The last activity to end in (from, to], of those launched before activity `launched_before`.
Index Connector::last_ended(TimeNs from, TimeNs to, Index launched_before) const {
  auto at = std::upper_bound(by_end_.begin(), by_end_.end(), std::pair<TimeNs, Index>{to, kNone});
  for (int n = 0; n < kMaxLook && at != by_end_.begin() && (at - 1)->first > from; ++n) {
    --at;
    if (at->second < launched_before) return at->second;
  }
  return kNone;
}

void Connector::collect_typical() {
  std::vector<float> calls;
  std::vector<float> latencies;
  std::vector<float> gaps;
  std::vector<float> syncs;
  std::vector<TimeNs> busy = stream_busy_;
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    const GraphItem& item = chunk_.item(i);
    const ItemTimes& times = chunk_.times[i];
    const auto inside = static_cast<float>(times.end - times.entry());
    if (item.kind == ItemKind::kSync) syncs.push_back(inside);
    const bool kernel = item.kind == ItemKind::kLaunch && klass(item) == ApiClass::kKernelLaunch;
    if (kernel) calls.push_back(inside);
    for (Index k = item.first_activity; k < activity_end(item); ++k) {
      TimeNs& previous = busy[activities_[k].stream];
      if (kernel && previous < times.start) {
        latencies.push_back(static_cast<float>(start(k) - times.end));
      } else if (previous > times.end + kSlowCall) {
        gaps.push_back(static_cast<float>(start(k) - previous));
      }
      previous = std::max(previous, end(k));
    }
  }
  typical_.launch_call = quantile_or(calls, 0.5, typical_.launch_call);
  // Low quantiles where some were held up by something else: another stream, the work waited for.
  typical_.latency = std::max(0.0F, quantile_or(latencies, 0.25, typical_.latency));
  typical_.gap = std::max(0.0F, quantile_or(gaps, 0.5, typical_.gap));
  typical_.sync_call = std::min(typical_.sync_call, quantile_or(syncs, 0.1, typical_.sync_call));
}

// With CUDA_LAUNCH_BLOCKING each launch call returns only when its kernel has ended.
bool Connector::launches_block() const {
  std::size_t launches = 0;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    const GraphItem& item = chunk_.item(i);
    if (item.kind != ItemKind::kLaunch || klass(item) != ApiClass::kKernelLaunch) continue;
    ++launches;
    ended += end(item.first_activity) <= chunk_.times[i].end ? 1 : 0;
  }
  constexpr double kMost = 0.8;
  return launches > 0 && static_cast<double>(ended) > kMost * static_cast<double>(launches);
}

// Decides what item `i` waits for and splits its call into `own` and `tail`. Returns the time from
// which its activities could start.
TimeNs Connector::settle_wait(std::size_t i) {
  GraphItem& item = chunk_.item(i);
  const ItemTimes& times = chunk_.times[i];
  item.own = static_cast<float>(times.end - times.entry());
  if (item.kind == ItemKind::kSync) {
    settle_sync(item, times);
  } else if (item.kind == ItemKind::kAlloc) {
    settle_alloc(item, times);
  } else if (item.kind == ItemKind::kLaunch) {
    const ApiClass call = klass(item);
    const bool copy = call == ApiClass::kCopyAsync || call == ApiClass::kCopyBlocking;
    if (copy && item.activity_count > 0) {
      settle_copy(item, times);
    } else if (blocking_launches_ && item.activity_count > 0) {
      settle_blocking_launch(item, times);
    } else if (times.end - times.entry() > kSlowCall) {
      settle_queue(item, times);
    }
  }
  const bool waits_after = item.is_copy_wait || item.is_blocking_launch;
  return waits_after ? times.entry() + static_cast<TimeNs>(item.own) : times.end;
}

// The call waits for `awaited`, which has ended by the time the call returns.
void Connector::wait_until(GraphItem& item, const ItemTimes& times, Index awaited) {
  item.wait = WaitFor::kActivity;
  item.awaited = awaited;
  const TimeNs ended = end(awaited);
  if (ended > times.entry()) {
    item.tail = static_cast<float>(times.end - ended);
    item.own = std::min(item.own, typical_.sync_call);
  } else {
    item.tail = std::min(item.own, typical_.wake);
  }
}

void Connector::settle_sync(GraphItem& item, const ItemTimes& times) {
  const TimeNs latest = times.end + kTolerance;
  if (klass(item) == ApiClass::kDeviceSync) {
    TimeNs all = kNever;
    for (const TimeNs busy : stream_busy_) all = std::max(all, busy);
    for (const TimeNs ended : last_end_) all = std::max(all, ended);
    if (all <= latest) {
      item.wait = WaitFor::kDevice;
      const bool bound = all > times.entry();
      item.tail = bound ? static_cast<float>(times.end - all) : std::min(item.own, typical_.wake);
      if (bound) item.own = std::min(item.own, typical_.sync_call);
      return;
    }
  }
  // The end that the call returned on, else what it would have waited for.
  Index awaited = last_ended(times.entry(), latest, item.first_activity);
  const Index stream = last_stream_of_thread_[times.thread];
  if (klass(item) == ApiClass::kStreamSync && stream != kNone) {
    const Index last = last_launched_[stream];
    if (last != kNone && end(last) <= latest && (awaited == kNone || end(last) >= times.entry())) {
      awaited = last;
    }
  }
  if (awaited == kNone) awaited = last_ended(kNever, latest, item.first_activity);
  if (awaited != kNone) wait_until(item, times, awaited);
}

// A copy from or to pageable memory holds the host until it is done (or staged).
void Connector::settle_copy(GraphItem& item, const ItemTimes& times) {
  const Index last = activity_end(item) - 1;
  const Index row = activities_[last].row;
  item.from_host_copy = activities_[last].role == ActivityRole::kH2D;
  const bool blocks =
      klass(item) == ApiClass::kCopyBlocking || a_.host_memory[row] == model::HostMemory::kPageable;
  if (!blocks || start(last) >= times.end) return;
  item.wait = WaitFor::kActivity;
  item.awaited = last;
  item.is_copy_wait = true;
  item.tail = static_cast<float>(times.end - end(last));
  const TimeNs issued = std::max<TimeNs>(0, start(last) - times.entry());
  const Index stream = activities_[last].stream;
  const TimeNs previous = std::max(stream_busy_[stream], last_end_[stream]);
  const bool waited = previous > times.entry();  // for the stream, before it could begin
  item.own = waited ? std::min(static_cast<float>(issued), typical_.launch_call)
                    : static_cast<float>(issued);
}

void Connector::settle_blocking_launch(GraphItem& item, const ItemTimes& times) {
  const Index last = activity_end(item) - 1;
  if (end(last) > times.end || start(item.first_activity) < times.entry()) return;
  item.wait = WaitFor::kActivity;
  item.awaited = last;
  item.is_blocking_launch = true;
  item.tail = static_cast<float>(times.end - end(last));
  item.own = static_cast<float>(start(item.first_activity) - times.entry());
}

// A launch call that takes long while many launches are outstanding waits for room in the queue.
void Connector::settle_queue(GraphItem& item, const ItemTimes& times) {
  const auto ended = static_cast<std::size_t>(
      std::upper_bound(by_end_.begin(), by_end_.end(), std::pair<TimeNs, Index>{times.end, kNone}) -
      by_end_.begin());
  const std::size_t launched = item.first_activity - chunk_begin_;
  if (launched < ended + kFullQueue) return;
  const Index awaited = last_ended(times.entry(), times.end, item.first_activity);
  if (awaited == kNone) return;
  item.wait = WaitFor::kActivity;
  item.awaited = awaited;
  item.queue_full = true;
  item.own = std::min(item.own, typical_.launch_call);
  item.tail = static_cast<float>(times.end - end(awaited));
}

// Freeing (and sometimes allocating) device memory waits until the device is idle.
void Connector::settle_alloc(GraphItem& item, const ItemTimes& times) {
  TimeNs all = kNever;
  for (const TimeNs busy : stream_busy_) all = std::max(all, busy);
  for (const TimeNs ended : last_end_) all = std::max(all, ended);
  const bool drained = all > times.entry() + kTolerance && all <= times.end + kTolerance;
  if (!drained || times.end - times.entry() < kSlowCall) return;
  item.wait = WaitFor::kDevice;
  item.tail = static_cast<float>(std::max<TimeNs>(0, times.end - all));
  item.own = 0;
}

void Connector::place_activities(std::size_t i, TimeNs release, std::vector<TimeNs>& busy) {
  GraphItem& item = chunk_.item(i);
  for (Index k = item.first_activity; k < activity_end(item); ++k) {
    const std::uint16_t stream = activities_[k].stream;
    place(item, k, release, busy[stream]);
    busy[stream] = std::max(busy[stream], end(k));
    last_launched_[stream] = k;
    last_end_[stream] = busy[stream];
    last_stream_of_thread_[chunk_.times[i].thread] = stream;
  }
}

// `previous`: end of the work before it on its stream, kNever when there was none.
void Connector::place(GraphItem& item, Index i, TimeNs release, TimeNs previous) {
  GraphActivity& activity = activities_[i];
  const TimeNs at = start(i);
  const auto after_release = static_cast<float>(at - release);
  const bool follows = previous != kNever;
  const auto after_previous = static_cast<float>(follows ? at - previous : 0);
  activity.latency = std::min(after_release, typical_.latency);
  activity.gap = follows ? std::min(after_previous, typical_.gap) : 0;
  const bool stream_explains = follows && at <= previous + kBackToBack;
  if (stream_explains) {
    activity.gap = after_previous;
    return;
  }
  const TimeNs ready = release + static_cast<TimeNs>(activity.latency);
  const bool first = i == item.first_activity;
  if (first && at <= ready + kBackToBack && (!follows || release >= previous)) {
    activity.latency = after_release;
    return;
  }
  const TimeNs not_before = std::max(first ? ready : kNever, previous);
  if (find_dependency(item, i, not_before)) return;
  if (first && release >= previous) {
    activity.latency = after_release;  // the launch took long
  } else if (follows) {
    activity.gap = after_previous;
  } else {
    activity.latency = after_release;
  }
}

// The end of an activity on another stream that explains most of the delay after `not_before`;
// within a CUDA graph, else, the node before.
bool Connector::find_dependency(const GraphItem& item, Index i, TimeNs not_before) {
  GraphActivity& activity = activities_[i];
  const TimeNs at = start(i);
  const TimeNs unexplained = not_before == kNever ? kDependencyWindow : at - not_before;
  const TimeNs from = std::max(not_before, at - std::max(kDependencyWindow, unexplained / 4));
  Index found = kNone;
  auto upper =
      std::upper_bound(by_end_.begin(), by_end_.end(), std::pair<TimeNs, Index>{at, kNone});
  for (int n = 0; n < kMaxLook && upper != by_end_.begin() && (upper - 1)->first > from;
       ++n, --upper) {
    const Index other = (upper - 1)->second;
    if (other < i && activities_[other].stream != activity.stream) {
      found = other;
      break;
    }
  }
  if (found == kNone && i > item.first_activity) found = i - 1;
  if (found == kNone || end(found) > at) return false;
  activity.dep = found;
  activity.dep_delay = static_cast<float>(at - end(found));
  return true;
}

void Connector::add_chunk() {
  GraphChunk chunk;
  chunk.first_item = chunk_.first_item;
  chunk.item_count = static_cast<Index>(chunk_.size());
  chunk.first_step = chunk_.range.first;
  chunk.step_count = chunk_.range.count;
  chunk.first_step_in_graph = chunk_.graph.step_count();
  chunk.start = chunk_.start;
  chunk.stream_busy = stream_busy_;
  TimeNs work = chunk_.start;
  for (const TimeNs busy : stream_busy_) work = std::max(work, busy);
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    const GraphItem& item = chunk_.item(i);
    for (Index k = item.first_activity; k < activity_end(item); ++k) work = std::max(work, end(k));
    if (item.kind != ItemKind::kStepEnd) continue;
    work = std::max(work, chunk_.times[i].end);
    chunk.step_end.push_back(work);
  }
  chunk_.graph.chunks.push_back(std::move(chunk));
}

}  // namespace

void connect(Chunk& chunk) { Connector(chunk).run(); }

}  // namespace pyrometer::analysis::graph
