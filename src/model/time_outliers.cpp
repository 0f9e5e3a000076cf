#include "model/time_outliers.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace pyrometer::model {
namespace {

// How outliers are told: the starts of all rows, sorted, are split where nothing begins for
// kLongestSilence. The part with the most rows is the trace, if it holds nearly all of them;
// else nothing is judged. Rows that begin or end further from it than kLongestSilence, and than a
// hundred times its length, are outliers. So a run that pauses for a night keeps both its halves,
// and a trace of seconds loses what lies days away.
constexpr DurationNs kLongestSilence = 86'400'000'000'000;  // a day
constexpr DurationNs kFarInLengths = 100;
constexpr std::size_t kMainShare = 4;  // at most one row in so many may be left out

// A column of starts and one of ends; the same one twice for instants.
template <typename Visit>
void visit_tables(RankTimeline& t, std::vector<std::uint64_t>& correlation, const Visit& visit) {
  ActivityTable& a = t.activities;
  visit(a.start, a.end, a.start, a.end, a.name, a.stream, a.detail, a.comm, a.device, a.kind,
        a.copy, a.host_memory, a.graph_node, correlation);
  ApiCallTable& c = t.api_calls;
  visit(c.start, c.end, c.start, c.end, c.name, c.thread, c.correlation);
  HostOpTable& o = t.host_ops;
  visit(o.start, o.end, o.start, o.end, o.name, o.thread, o.shapes, o.dtypes);
  for (RangeTable* r : {&t.annotations, &t.python, &t.profiler_overhead}) {
    visit(r->start, r->end, r->start, r->end, r->name, r->thread);
  }
  SyncTable& s = t.syncs;
  visit(s.start, s.end, s.start, s.end, s.name, s.stream, s.device, s.correlation);
  MemoryTable& m = t.memory;
  visit(m.time, m.time, m.time, m.bytes, m.total_allocated, m.total_reserved, m.device);
}

// The extent of the trace proper, when there is something far outside it.
std::optional<Interval> main_part(std::vector<TimeNs>& starts) {
  std::sort(starts.begin(), starts.end());
  std::size_t best = 0;
  std::size_t best_size = 0;
  for (std::size_t i = 0; i < starts.size();) {
    std::size_t j = i + 1;
    while (j < starts.size() && starts[j] - starts[j - 1] <= kLongestSilence) ++j;
    if (j - i > best_size) {
      best = i;
      best_size = j - i;
    }
    i = j;
  }
  if ((starts.size() - best_size) * kMainShare > starts.size()) return std::nullopt;
  return Interval{starts[best], starts[best + best_size - 1]};
}

template <typename Column>
void keep_rows(const std::vector<char>& keep, Column& column) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i] != 0) column[to++] = column[i];
  }
  column.resize(to);
}

}  // namespace

void drop_time_outliers(RankTimeline& t, std::vector<std::uint64_t>& correlation) {
  Interval all{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  visit_tables(t, correlation, [&](const auto& start, const auto& end, auto&...) {
    for (const TimeNs at : start) all.start = std::min(all.start, at);
    for (const TimeNs at : end) all.end = std::max(all.end, at);
  });
  // Nearly every trace ends here. Unsigned: the difference may be larger than a time.
  const auto extent = static_cast<std::uint64_t>(all.end) - static_cast<std::uint64_t>(all.start);
  if (all.start > all.end || extent <= static_cast<std::uint64_t>(kLongestSilence)) return;

  std::vector<TimeNs> starts;
  visit_tables(t, correlation, [&](const auto& start, const auto&, auto&...) {
    starts.insert(starts.end(), start.begin(), start.end());
  });
  const std::optional<Interval> trunk = main_part(starts);
  if (!trunk) return;
  constexpr TimeNs kMost = std::numeric_limits<TimeNs>::max() / 4;
  const DurationNs far =
      std::max(kLongestSilence, std::min(trunk->length(), kMost / kFarInLengths) * kFarInLengths);
  const Interval allowed{std::max(trunk->start, -kMost) - far, std::min(trunk->end, kMost) + far};
  std::int64_t dropped = 0;
  visit_tables(t, correlation, [&](const auto& start, const auto& end, auto&... columns) {
    std::vector<char> keep(start.size(), 1);
    std::int64_t outside = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (start[i] >= allowed.start && end[i] <= allowed.end) continue;
      keep[i] = 0;
      ++outside;
    }
    if (outside > 0) (keep_rows(keep, columns), ...);
    dropped += outside;
  });
  if (dropped == 0) return;
  t.stats.add(
      "outlying_time", StatSeverity::kDataLoss, -1,
      "events at times far outside the rest of the trace (a time stamp of 0, say): left out",
      dropped);
}

}  // namespace pyrometer::model
