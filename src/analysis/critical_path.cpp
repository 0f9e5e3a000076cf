#include "analysis/critical_path.h"

#include <algorithm>
#include <map>

#include "analysis/step_graph.h"

namespace pyrometer::analysis {
namespace {

using model::CriticalPath;
using model::CriticalSegment;
using model::Index;
using model::Interval;
using model::kNone;
using model::NameId;
using model::TimeNs;
using Kind = CriticalSegment::Kind;

// Steps before the wanted one whose work may still run or queue in it.
constexpr Index kStepsBefore = 2;

class Walker {
 public:
  Walker(const model::RankTimeline& t, const StepGraph& graph, Interval span)
      : t_(t), a_(t.activities), graph_(graph), span_(span), at_(span.end) {
    TimeNs done = graph.chunks.front().start;
    for (Index i = 0; i < graph.items.size(); ++i) {
      const GraphItem& item = graph.items[i];
      before_.push_back(done);
      if (item.call != kNone) done = std::max(done, t.api_calls.end[item.call]);
      end_.push_back(done);
      for (Index k = 0; k < item.activity_count; ++k) item_of_.push_back(i);
    }
    for (Index i = 0; i < graph.activities.size(); ++i) {
      by_end_.emplace_back(a_.end[graph.activities[i].row], i);
    }
    std::sort(by_end_.begin(), by_end_.end());
    link_streams();
  }

  std::vector<CriticalSegment> walk();

 private:
  [[nodiscard]] TimeNs start(Index i) const { return a_.start[graph_.activities[i].row]; }
  [[nodiscard]] TimeNs end(Index i) const { return a_.end[graph_.activities[i].row]; }
  void link_streams();
  // Moves back to `to` (not past the span's start), leaving a segment.
  void back(Kind kind, NameId name, TimeNs to);
  void device(Index activity);
  void host();
  void host_gap(Index item);
  [[nodiscard]] Index awaited(Index item) const;
  // The last activity to end at or before `time`; kNone when there is none after `after`.
  [[nodiscard]] Index ended_by(TimeNs time, TimeNs after) const;

  const model::RankTimeline& t_;
  const model::ActivityTable& a_;
  const StepGraph& graph_;
  Interval span_;
  TimeNs at_;
  Index next_ = kNone;                // activity to go on with; kNone: on the host
  std::vector<TimeNs> before_, end_;  // by item: the host's end of the one before, and its own
  std::vector<Index> item_of_;        // by activity
  std::vector<Index> previous_;       // by activity: the one before on its stream
  std::vector<std::pair<TimeNs, Index>> by_end_;
  std::vector<CriticalSegment> segments_;  // latest first
};

void Walker::link_streams() {
  std::vector<Index> last(graph_.streams.size(), kNone);
  for (Index i = 0; i < graph_.activities.size(); ++i) {
    Index& previous = last[graph_.activities[i].stream];
    previous_.push_back(previous);
    if (previous == kNone || end(i) >= end(previous)) previous = i;
  }
}

void Walker::back(Kind kind, NameId name, TimeNs to) {
  to = std::max(to, span_.start);
  if (to >= at_) return;
  segments_.push_back({kind, name, {to, at_}});
  at_ = to;
}

Index Walker::ended_by(TimeNs time, TimeNs after) const {
  const auto at =
      std::upper_bound(by_end_.begin(), by_end_.end(), std::pair<TimeNs, Index>{time, kNone});
  if (at == by_end_.begin() || (at - 1)->first <= after) return kNone;
  return (at - 1)->second;
}

void Walker::device(Index i) {
  const GraphActivity& activity = graph_.activities[i];
  const Kind kind = activity.role == ActivityRole::kComm     ? Kind::kComm
                    : activity.role == ActivityRole::kKernel ? Kind::kKernel
                                                             : Kind::kCopy;
  back(kind, graph_.names[activity.name], start(i));
  const Index previous = previous_[i];
  if (activity.dep != kNone && end(activity.dep) <= start(i)) {
    back(Kind::kDeviceGap, 0, end(activity.dep));
    next_ = activity.dep;
    return;
  }
  const GraphItem& item = graph_.items[item_of_[i]];
  const TimeNs launched = item.call == kNone ? start(i) : t_.api_calls.start[item.call];
  if (previous != kNone && end(previous) > launched) {
    back(Kind::kDeviceGap, 0, std::min(at_, end(previous)));
    next_ = previous;
    return;
  }
  back(Kind::kLaunchLatency, item.call == kNone ? 0 : t_.api_calls.name[item.call], launched);
  next_ = kNone;
}

// What the item's call waited for, when that ended inside the call.
Index Walker::awaited(Index i) const {
  const GraphItem& item = graph_.items[i];
  if (item.wait == WaitFor::kNothing) return kNone;
  const TimeNs entry = std::max(before_[i], t_.api_calls.start[item.call]);
  if (item.wait == WaitFor::kDevice) return ended_by(end_[i], entry);
  return end(item.awaited) > entry ? item.awaited : kNone;
}

void Walker::host_gap(Index i) {
  const GraphItem& item = graph_.items[i];
  const TimeNs from = std::max(before_[i], span_.start);
  const NameId around = item.path == 0 ? NameId{0} : graph_.paths[item.path].back();
  const auto& thread =
      item.call == kNone ? t_.threads[t_.main_thread] : t_.threads[t_.api_calls.thread[item.call]];
  // Operators at the outermost level, latest first.
  const auto begin = t_.host_ops.start.begin();
  auto row = static_cast<Index>(
      std::lower_bound(begin + thread.host_ops.begin, begin + thread.host_ops.end, at_) - begin);
  while (row > thread.host_ops.begin && at_ > from) {
    --row;
    if (t_.host_ops.parent[row] != kNone) continue;
    const TimeNs op_end = t_.host_ops.end[row];
    if (op_end <= from) break;
    back(Kind::kHostOther, around, std::max(from, std::min(at_, op_end)));
    back(Kind::kHostOp, t_.host_ops.name[row], std::max(from, t_.host_ops.start[row]));
  }
  back(Kind::kHostOther, around, from);
}

void Walker::host() {
  // The item whose gap or call holds the time just before `at_`.
  const auto found = std::lower_bound(end_.begin(), end_.end(), at_);
  if (found == end_.end()) {
    back(Kind::kHostOther, 0, end_.empty() ? span_.start : end_.back());
    return;
  }
  const auto i = static_cast<Index>(found - end_.begin());
  const GraphItem& item = graph_.items[i];
  if (item.call != kNone) {
    const TimeNs entry = std::max(before_[i], t_.api_calls.start[item.call]);
    if (at_ > entry) {
      const Index waited = at_ == end_[i] ? awaited(i) : kNone;
      const NameId api = t_.api_calls.name[item.call];
      if (waited != kNone) {
        back(Kind::kBlocked, api, std::min(at_, end(waited)));
        next_ = waited;
        return;
      }
      back(Kind::kHostOp, api, entry);
      return;
    }
  }
  host_gap(i);
}

std::vector<CriticalSegment> Walker::walk() {
  // The step ends with its last device work where that runs on, else with the host.
  next_ = ended_by(at_, at_ - 1);
  while (at_ > span_.start) {
    const TimeNs before = at_;
    if (next_ != kNone) {
      device(next_);
    } else {
      host();
    }
    // A graph that does not explain the time (work from before it): the rest stays unnamed.
    if (at_ == before && next_ == kNone) back(Kind::kDeviceGap, 0, span_.start);
  }
  std::reverse(segments_.begin(), segments_.end());
  return segments_;
}

std::vector<CriticalPath::Row> summarize(const std::vector<CriticalSegment>& segments) {
  std::map<std::pair<Kind, NameId>, model::DurationNs> totals;
  for (const CriticalSegment& segment : segments) {
    totals[{segment.kind, segment.name}] += segment.span.length();
  }
  std::vector<CriticalPath::Row> rows;
  for (const auto& [key, total] : totals) rows.push_back({key.first, key.second, total});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& x, const auto& y) { return x.total > y.total; });
  return rows;
}

// The step of median length; the first counts only where there is no other.
Index median_step(const std::vector<model::Step>& steps) {
  std::vector<Index> order;
  for (Index i = steps.size() > 2 ? 1 : 0; i < steps.size(); ++i) order.push_back(i);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](Index x, Index y) {
    const auto a = steps[x].span.length();
    const auto b = steps[y].span.length();
    return a != b ? a < b : x < y;
  });
  return *middle;
}

}  // namespace

CriticalPath critical_path_of(const model::RankTimeline& t, const model::RankAnalysis& a,
                              Index step) {
  CriticalPath path;
  const Index first = step > kStepsBefore ? step - kStepsBefore : 0;
  const StepGraph graph = build_step_graph(t, a, {{first, step - first + 1}});
  if (!graph.available) return path;
  path.step = step;
  path.segments = Walker(t, graph, a.steps.steps[step].span).walk();
  path.summary = summarize(path.segments);
  return path;
}

void find_critical_path(const model::RankTimeline& t, model::RankAnalysis& a) {
  if (a.steps.steps.empty()) return;
  a.patterns.critical_path = critical_path_of(t, a, median_step(a.steps.steps));
}

}  // namespace pyrometer::analysis
