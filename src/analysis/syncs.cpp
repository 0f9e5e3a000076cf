#include "analysis/syncs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/enclosing.h"
#include "analysis/interval_set.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ApiClass;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::Interval;
using model::kNone;
using model::NameId;
using model::SyncRow;
using model::TimeNs;

// An asynchronous copy that waits does so for longer than this; below, it has only been issued.
constexpr DurationNs kIssueNs = 30'000;

// The host was still inside the call when the device got to the copy.
bool copy_waited(const model::RankTimeline& t, Index call) {
  const Index copy = t.api_calls.first_activity[call];
  if (copy == kNone || t.activities.host_memory[copy] == model::HostMemory::kPinned) return false;
  const model::CopyKind kind = t.activities.copy[copy];
  if (kind != model::CopyKind::kH2D && kind != model::CopyKind::kD2H) return false;
  const TimeNs returned = t.api_calls.end[call];
  if (returned >= t.activities.end[copy]) return true;
  return returned > t.activities.start[copy] && returned - t.api_calls.start[call] >= kIssueNs;
}

bool waits(const model::RankTimeline& t, const model::RankAnalysis& a, Index call) {
  switch (a.api_class[t.api_calls.name[call]]) {
    case ApiClass::kStreamSync:
    case ApiClass::kDeviceSync:
    case ApiClass::kEventSync:
    case ApiClass::kCopyBlocking:
      return true;
    case ApiClass::kCopyAsync:
      return copy_waited(t, call);
    default:
      return false;
  }
}

// Start of the last call that launched something, or of the last operator.
TimeNs last_work_issued(const model::RankTimeline& t) {
  TimeNs last = std::numeric_limits<TimeNs>::min();
  for (Index i = 0; i < t.api_calls.size(); ++i) {
    if (t.api_calls.first_activity[i] != kNone) last = std::max(last, t.api_calls.start[i]);
  }
  return last;
}

// The profiler synchronises the device when it stops: outside operators and steps, and nothing
// follows.
bool is_profilers_own(const model::RankTimeline& t, const model::RankAnalysis& a, Index call,
                      TimeNs last_work) {
  if (a.api_class[t.api_calls.name[call]] != ApiClass::kDeviceSync) return false;
  if (t.api_calls.op[call] != kNone || t.api_calls.start[call] < last_work) return false;
  const auto& steps = a.steps.steps;
  return steps.empty() || t.api_calls.start[call] >= steps.back().marker.end;
}

// Blocking calls that start in the window, by start.
std::vector<Index> blocking_calls(const model::RankTimeline& t, const model::RankAnalysis& a) {
  std::vector<Index> calls;
  const TimeNs last_work = last_work_issued(t);
  for (const model::Thread& thread : t.threads) {
    const auto rows = rows_within(t.api_calls.start, thread.api_calls, a.steps.window);
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (waits(t, a, i) && !is_profilers_own(t, a, i, last_work)) calls.push_back(i);
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [&](Index x, Index y) { return t.api_calls.start[x] < t.api_calls.start[y]; });
  return calls;
}

IntervalSet busy_set(const model::RankTimeline& t) {
  IntervalSet busy;
  for (const model::Device& device : t.devices) {
    IntervalSet one;
    for (Index i = device.activities.begin; i < device.activities.end; ++i) {
      one.add(t.activities.start[i], t.activities.end[i]);
    }
    busy = busy.empty() ? std::move(one) : unite(busy, one);
  }
  return busy;
}

// Idle time of the device from `from` to its next activity, at most to `until`.
DurationNs idle_from(const IntervalSet& busy, TimeNs from, TimeNs until) {
  const auto next =
      std::upper_bound(busy.begin(), busy.end(), from,
                       [](TimeNs time, const Interval& span) { return time < span.end; });
  const TimeNs end = next == busy.end() ? until : std::min(until, next->start);
  return std::max<DurationNs>(0, end - from);
}

// The user's own code: not PyTorch's, not an installed package's, not a builtin or a module call.
bool is_user_frame(std::string_view name) {
  if (name.find(".py(") == std::string_view::npos) return false;
  for (const std::string_view other :
       {"site-packages/", "dist-packages/", "lib/python", "<frozen"}) {
    if (name.find(other) != std::string_view::npos) return false;
  }
  return !name.starts_with("torch/");
}

// Names around each call, by position in `calls`.
struct Surroundings {
  std::vector<NameId> annotation;
  std::vector<NameId> python;
};

Surroundings surroundings(const model::RankTimeline& t, const std::vector<Index>& calls) {
  Surroundings around{std::vector<NameId>(calls.size(), 0), std::vector<NameId>(calls.size(), 0)};
  for (std::size_t thread = 0; thread < t.threads.size(); ++thread) {
    std::vector<std::size_t> mine;
    std::vector<TimeNs> times;
    for (std::size_t k = 0; k < calls.size(); ++k) {
      if (t.api_calls.thread[calls[k]] != thread) continue;
      mine.push_back(k);
      times.push_back(t.api_calls.start[calls[k]]);
    }
    if (mine.empty()) continue;
    const auto annotations = innermost_rows(
        t.annotations, t.threads[thread].annotations, times,
        [&](Index row) { return !t.name(t.annotations.name[row]).starts_with("ProfilerStep#"); });
    const auto frames = innermost_rows(t.python, t.threads[thread].python, times, [&](Index row) {
      return is_user_frame(t.name(t.python.name[row]));
    });
    for (std::size_t k = 0; k < mine.size(); ++k) {
      if (annotations[k] != kNone) around.annotation[mine[k]] = t.annotations.name[annotations[k]];
      if (frames[k] != kNone) around.python[mine[k]] = t.python.name[frames[k]];
    }
  }
  return around;
}

Index outermost_op(const model::RankTimeline& t, Index op) {
  while (op != kNone && t.host_ops.parent[op] != kNone) op = t.host_ops.parent[op];
  return op;
}

// One blocking call with what it cost.
struct Wait {
  Index call = kNone;
  DurationNs blocked = 0, busy = 0, idle = 0, drained_after = 0;
};

std::vector<Wait> measure(const model::RankTimeline& t, const model::RankAnalysis& a,
                          const std::vector<Index>& calls) {
  const IntervalSet busy = busy_set(t);
  const Coverage coverage(busy);
  const Interval window = a.steps.window;
  std::vector<Wait> waits;
  waits.reserve(calls.size());
  for (std::size_t k = 0; k < calls.size(); ++k) {
    const TimeNs start = t.api_calls.start[calls[k]];
    const TimeNs end = std::max(start, std::min(t.api_calls.end[calls[k]], window.end));
    Wait wait;
    wait.call = calls[k];
    wait.blocked = end - start;
    wait.busy = coverage.within(start, end);
    wait.idle = wait.blocked - wait.busy;
    TimeNs until = window.end;
    if (k + 1 < calls.size()) until = std::min(until, t.api_calls.start[calls[k + 1]]);
    wait.drained_after = idle_from(busy, end, until);
    waits.push_back(wait);
  }
  return waits;
}

std::vector<SyncRow> group(const model::RankTimeline& t, const model::RankAnalysis& a,
                           const std::vector<Wait>& waits, const Surroundings& around) {
  using Key = std::tuple<NameId, NameId, NameId, NameId, NameId>;
  std::map<Key, SyncRow> rows;
  const Interval stepped = stepped_span(a.steps);
  std::map<Key, std::int64_t> in_steps;
  std::map<Key, std::vector<DurationNs>> drained;
  for (std::size_t k = 0; k < waits.size(); ++k) {
    const Wait& wait = waits[k];
    const Index leaf = t.api_calls.op[wait.call];
    const Index outer = outermost_op(t, leaf);
    SyncRow named;
    named.api = t.api_calls.name[wait.call];
    named.op = outer == kNone ? 0 : t.host_ops.name[outer];
    named.leaf_op = leaf == kNone ? 0 : t.host_ops.name[leaf];
    named.annotation = around.annotation[k];
    named.python = around.python[k];
    named.klass = a.api_class[named.api];
    const Key key{named.api, named.op, named.leaf_op, named.annotation, named.python};
    SyncRow& row = rows.try_emplace(key, named).first->second;
    ++row.count;
    row.blocked += wait.blocked;
    row.waiting_busy += wait.busy;
    row.waiting_idle += wait.idle;
    row.drained_after += wait.drained_after;
    drained[key].push_back(wait.drained_after);
    if (contains(stepped, t.api_calls.start[wait.call])) ++in_steps[key];
  }
  std::vector<SyncRow> result;
  for (auto& [key, row] : rows) {
    row.drained_typical = percentile(drained[key], 50) * row.count;
    if (!a.steps.steps.empty()) {
      row.per_step = static_cast<double>(in_steps[key]) / static_cast<double>(a.steps.steps.size());
    }
    result.push_back(row);
  }
  const auto text = [&](const SyncRow& row) {
    return std::make_tuple(t.name(row.api), t.name(row.op), t.name(row.leaf_op),
                           t.name(row.annotation), t.name(row.python));
  };
  std::sort(result.begin(), result.end(), [&](const SyncRow& x, const SyncRow& y) {
    const DurationNs idle_x = x.drained_after + x.waiting_idle;
    const DurationNs idle_y = y.drained_after + y.waiting_idle;
    return idle_x != idle_y ? idle_x > idle_y : text(x) < text(y);
  });
  return result;
}

enum class Reason : std::uint8_t { kItem, kNonzero, kCopy, kExplicit, kOther };

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Reason reason_of(const model::RankTimeline& t, const model::RankAnalysis& a, Index call) {
  const Index leaf = t.api_calls.op[call];
  if (leaf == kNone) {
    const ApiClass klass = a.api_class[t.api_calls.name[call]];
    const bool copy = klass == ApiClass::kCopyAsync || klass == ApiClass::kCopyBlocking;
    return copy ? Reason::kCopy : Reason::kExplicit;
  }
  const std::string_view name = t.name(t.host_ops.name[leaf]);
  if (is_any(name, {"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero"})) {
    return Reason::kItem;
  }
  if (is_any(name, {"aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim",
                    "aten::unique_consecutive", "aten::bincount", "aten::repeat_interleave"})) {
    return Reason::kNonzero;
  }
  return name == "aten::copy_" ? Reason::kCopy : Reason::kOther;
}

struct Counts {
  std::set<Index> ops;  // operators that blocked; calls outside operators count each
  std::int64_t bare = 0;
  void add(const model::RankTimeline& t, Index call) {
    const Index op = t.api_calls.op[call];
    if (op == kNone) {
      ++bare;
    } else {
      ops.insert(op);
    }
  }
  [[nodiscard]] double size() const {
    return static_cast<double>(ops.size()) + static_cast<double>(bare);
  }
};

void set_facts(const model::RankTimeline& t, const model::RankAnalysis& a,
               const std::vector<Wait>& waits, FactWriter& facts) {
  constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kOther) + 1;
  Counts all;
  Counts stepped;
  std::vector<Counts> by_reason(kReasons);
  Wait sum;
  DurationNs item_drained = 0;
  const Interval steps = stepped_span(a.steps);
  for (const Wait& wait : waits) {
    const Reason reason = reason_of(t, a, wait.call);
    all.add(t, wait.call);
    sum.blocked += wait.blocked;
    sum.busy += wait.busy;
    sum.idle += wait.idle;
    sum.drained_after += wait.drained_after;
    if (reason == Reason::kItem) item_drained += wait.idle + wait.drained_after;
    if (!contains(steps, t.api_calls.start[wait.call])) continue;
    stepped.add(t, wait.call);
    by_reason[static_cast<std::size_t>(reason)].add(t, wait.call);
  }
  const auto reason_per_step = [&](FactId id, Reason reason) {
    facts.per_step(id, by_reason[static_cast<std::size_t>(reason)].size());
  };
  facts.set(FactId::kSyncsCount, all.size());
  facts.per_step(FactId::kSyncsPerStep, stepped.size());
  reason_per_step(FactId::kSyncsItemPerStep, Reason::kItem);
  reason_per_step(FactId::kSyncsNonzeroPerStep, Reason::kNonzero);
  reason_per_step(FactId::kSyncsCopyPerStep, Reason::kCopy);
  reason_per_step(FactId::kSyncsExplicitPerStep, Reason::kExplicit);
  facts.host_share(FactId::kSyncsBlockedShare, sum.blocked);
  facts.host_share(FactId::kSyncsWaitingBusyShare, sum.busy);
  facts.host_share(FactId::kSyncsWaitingIdleShare, sum.idle);
  facts.host_share(FactId::kSyncsDrainedShare, sum.idle + sum.drained_after);
  facts.host_share(FactId::kSyncsItemDrainedShare, item_drained);
  DurationNs typical = sum.idle;
  for (const SyncRow& row : a.host.syncs) typical += row.drained_typical;
  facts.host_share(FactId::kSyncsDrainedTypicalShare, typical);
  if (a.host.syncs.empty()) {
    facts.missing(FactId::kSyncsTop, "the host never waited for the device");
    return;
  }
  const SyncRow& top = a.host.syncs.front();
  facts.set_text(FactId::kSyncsTop, std::string(t.name(top.op != 0 ? top.op : top.api)));
}

}  // namespace

void measure_syncs(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.host.syncs.clear();
  if (t.api_calls.size() == 0) {
    facts.all_missing("syncs", "no runtime or driver calls were recorded");
    return;
  }
  const std::vector<Index> calls = blocking_calls(t, a);
  const std::vector<Wait> waits = measure(t, a, calls);
  a.host.syncs = group(t, a, waits, surroundings(t, calls));
  set_facts(t, a, waits, facts);
}

}  // namespace pyrometer::analysis
