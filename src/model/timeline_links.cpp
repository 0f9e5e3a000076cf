#include "model/timeline_links.h"

#include <algorithm>
#include <limits>
#include <string>

namespace pyrometer::model {
namespace {

// Calls by correlation. Correlations are nearly always dense (CUPTI counts them up), so a direct
// table serves; a sorted list is the fallback for sparse ones.
class CallsByCorrelation {
 public:
  explicit CallsByCorrelation(const ApiCallTable& calls) : calls_(calls) {
    std::uint64_t high = 0;
    low_ = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t c : calls.correlation) {
      if (c == 0) continue;
      low_ = std::min(low_, c);
      high = std::max(high, c);
    }
    if (high == 0) return;
    constexpr std::uint64_t kSlack = 1 << 16;
    if (high - low_ < 16 * std::uint64_t{calls.size()} + kSlack) {
      direct_.assign(high - low_ + 1, kNone);
    }
    for (Index i = 0; i < calls.size(); ++i) {
      const std::uint64_t c = calls.correlation[i];
      if (c == 0) continue;
      if (direct_.empty() || direct_[c - low_] != kNone) {
        sorted_.push_back(i);
        if (!direct_.empty()) {  // a repeated correlation: both go to the sorted list
          if (direct_[c - low_] != kShared) sorted_.push_back(direct_[c - low_]);
          direct_[c - low_] = kShared;
        }
      } else {
        direct_[c - low_] = i;
      }
    }
    std::sort(sorted_.begin(), sorted_.end(), [&](Index a, Index b) {
      if (calls.correlation[a] != calls.correlation[b]) {
        return calls.correlation[a] < calls.correlation[b];
      }
      if (calls.start[a] != calls.start[b]) return calls.start[a] < calls.start[b];
      return a < b;
    });
  }

  [[nodiscard]] Index find(std::uint64_t correlation, TimeNs activity_start) const {
    if (correlation == 0) return kNone;
    if (!direct_.empty()) {
      if (correlation < low_ || correlation - low_ >= direct_.size()) return kNone;
      const Index call = direct_[correlation - low_];
      if (call != kShared) return call;
    }
    // The latest that began before the activity, or else the earliest. A bisection: damage may give
    // thousands of calls one correlation.
    const auto first =
        std::lower_bound(sorted_.begin(), sorted_.end(), correlation,
                         [&](Index i, std::uint64_t c) { return calls_.correlation[i] < c; });
    const auto after = std::partition_point(first, sorted_.end(), [&](Index i) {
      return calls_.correlation[i] == correlation && calls_.start[i] <= activity_start;
    });
    if (after != first) return *(after - 1);
    const bool any = first != sorted_.end() && calls_.correlation[*first] == correlation;
    return any ? *first : kNone;
  }

 private:
  static constexpr Index kShared = kNone - 1;
  const ApiCallTable& calls_;
  std::uint64_t low_ = 0;
  std::vector<Index> direct_;
  std::vector<Index> sorted_;
};

// Walks nested ranges of one thread in order and tells the innermost one that contains a point.
class NestingStack {
 public:
  explicit NestingStack(const std::vector<TimeNs>& end) : end_(end) {}
  // The innermost open range that contains [start, end), after closing those that ended.
  [[nodiscard]] Index enclosing(TimeNs start, TimeNs end) {
    while (!open_.empty() && end_[open_.back()] <= start) {
      // A range that ends where a zero-length one begins still contains it.
      if (end_[open_.back()] == start && end == start) break;
      open_.pop_back();
    }
    for (auto at = open_.rbegin(); at != open_.rend(); ++at) {
      if (end_[*at] >= end) return *at;
    }
    return kNone;
  }
  void push(Index row) { open_.push_back(row); }

 private:
  const std::vector<TimeNs>& end_;
  std::vector<Index> open_;
};

TimeNs first_event(const RankTimeline& t, const Thread& thread) {
  TimeNs first = std::numeric_limits<TimeNs>::max();
  if (thread.host_ops.size() > 0) first = std::min(first, t.host_ops.start[thread.host_ops.begin]);
  if (thread.api_calls.size() > 0) {
    first = std::min(first, t.api_calls.start[thread.api_calls.begin]);
  }
  if (thread.annotations.size() > 0) {
    first = std::min(first, t.annotations.start[thread.annotations.begin]);
  }
  return first;
}

}  // namespace

void link_launches(RankTimeline& t, const std::vector<std::uint64_t>& correlation) {
  ApiCallTable& calls = t.api_calls;
  ActivityTable& activities = t.activities;
  calls.first_activity.assign(calls.size(), kNone);
  calls.activity_count.assign(calls.size(), 0);
  activities.launch.assign(activities.size(), kNone);
  const CallsByCorrelation by_correlation(calls);
  for (Index i = 0; i < activities.size(); ++i) {
    const Index call = by_correlation.find(correlation[i], activities.start[i]);
    activities.launch[i] = call;
    if (call == kNone) continue;
    if (calls.first_activity[call] == kNone) calls.first_activity[call] = i;
    ++calls.activity_count[call];
  }
}

void link_nesting(RankTimeline& t) {
  HostOpTable& ops = t.host_ops;
  ApiCallTable& calls = t.api_calls;
  ops.parent.assign(ops.size(), kNone);
  calls.op.assign(calls.size(), kNone);
  for (const Thread& thread : t.threads) {
    NestingStack stack(ops.end);
    Index call = thread.api_calls.begin;
    for (Index op = thread.host_ops.begin; op < thread.host_ops.end; ++op) {
      for (; call < thread.api_calls.end && calls.start[call] < ops.start[op]; ++call) {
        calls.op[call] = stack.enclosing(calls.start[call], calls.end[call]);
      }
      ops.parent[op] = stack.enclosing(ops.start[op], ops.end[op]);
      stack.push(op);
    }
    for (; call < thread.api_calls.end; ++call) {
      calls.op[call] = stack.enclosing(calls.start[call], calls.end[call]);
    }
  }
}

ThreadId find_main_thread(const RankTimeline& t) {
  ThreadId best = 0;
  // Compared in order: markers, is the process's first thread, annotations, earliest event.
  struct Score {
    Index markers = 0;
    bool first_thread = false;
    Index annotations = 0;
    TimeNs first = std::numeric_limits<TimeNs>::max();
    [[nodiscard]] bool better_than(const Score& o) const {
      if (markers != o.markers) return markers > o.markers;
      if (first_thread != o.first_thread) return first_thread;
      if (annotations != o.annotations) return annotations > o.annotations;
      return first < o.first;
    }
  };
  Score best_score;
  bool any = false;
  for (std::size_t i = 0; i < t.threads.size(); ++i) {
    const Thread& thread = t.threads[i];
    Score score;
    score.first = first_event(t, thread);
    if (score.first == std::numeric_limits<TimeNs>::max()) continue;
    for (Index a = thread.annotations.begin; a < thread.annotations.end; ++a) {
      if (t.name(t.annotations.name[a]).starts_with("ProfilerStep#")) ++score.markers;
    }
    score.first_thread = thread.tid == std::to_string(thread.pid);
    score.annotations = thread.annotations.size();
    if (!any || score.better_than(best_score)) {
      best = static_cast<ThreadId>(i);
      best_score = score;
      any = true;
    }
  }
  return best;
}

}  // namespace pyrometer::model
