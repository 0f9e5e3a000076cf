#include "analysis/interval_set.h"

#include <algorithm>

namespace pyrometer::analysis {

using model::DurationNs;
using model::Interval;
using model::TimeNs;

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  const auto by_start = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_start)) {
    std::sort(intervals.begin(), intervals.end(), by_start);
  }
  // Merged in place: the write position never passes the read position.
  std::size_t kept = 0;
  for (const Interval& span : intervals) {
    if (span.end <= span.start) continue;
    if (kept > 0 && span.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, span.end);
    } else {
      intervals[kept++] = span;
    }
  }
  intervals.resize(kept);
  intervals_ = std::move(intervals);
}

void IntervalSet::add(TimeNs start, TimeNs end) {
  if (end <= start) return;
  if (!intervals_.empty() && start <= intervals_.back().end) {
    intervals_.back().end = std::max(intervals_.back().end, end);
  } else {
    intervals_.push_back({start, end});
  }
}

DurationNs IntervalSet::length() const {
  DurationNs sum = 0;
  for (const Interval& span : intervals_) sum += span.length();
  return sum;
}

std::size_t IntervalSet::first_ending_after(TimeNs time) const {
  const auto at = std::upper_bound(intervals_.begin(), intervals_.end(), time,
                                   [](TimeNs t, const Interval& span) { return t < span.end; });
  return static_cast<std::size_t>(at - intervals_.begin());
}

bool IntervalSet::contains(TimeNs time) const {
  const std::size_t at = first_ending_after(time);
  return at < intervals_.size() && intervals_[at].start <= time;
}

DurationNs IntervalSet::length_within(Interval span) const {
  DurationNs sum = 0;
  for (std::size_t i = first_ending_after(span.start);
       i < intervals_.size() && intervals_[i].start < span.end; ++i) {
    sum += std::min(intervals_[i].end, span.end) - std::max(intervals_[i].start, span.start);
  }
  return sum;
}

Interval IntervalSet::hull() const {
  if (intervals_.empty()) return {};
  return {intervals_.front().start, intervals_.back().end};
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  result.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    const bool take_a = j == b.end() || (i != a.end() && i->start <= j->start);
    result.add(take_a ? *i++ : *j++);
  }
  return result;
}

namespace {

// Calls `emit` with every maximal interval that lies in both sets, in order.
template <typename Emit>
void for_each_common(const IntervalSet& a, const IntervalSet& b, Emit emit) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const TimeNs start = std::max(i->start, j->start);
    const TimeNs end = std::min(i->end, j->end);
    if (start < end) emit(start, end);
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
}

}  // namespace

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  for_each_common(a, b, [&](TimeNs start, TimeNs end) { result.add(start, end); });
  return result;
}

DurationNs overlap_length(const IntervalSet& a, const IntervalSet& b) {
  DurationNs sum = 0;
  for_each_common(a, b, [&](TimeNs start, TimeNs end) { sum += end - start; });
  return sum;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  auto j = b.begin();
  for (const Interval& span : a) {
    TimeNs from = span.start;
    while (j != b.end() && j->end <= from) ++j;
    for (auto k = j; k != b.end() && k->start < span.end; ++k) {
      result.add(from, k->start);
      from = std::max(from, k->end);
    }
    result.add(from, span.end);
  }
  return result;
}

IntervalSet clip(const IntervalSet& set, Interval window) {
  IntervalSet result;
  for (std::size_t i = set.first_ending_after(window.start);
       i < set.size() && set.intervals_[i].start < window.end; ++i) {
    result.add(std::max(set.intervals_[i].start, window.start),
               std::min(set.intervals_[i].end, window.end));
  }
  return result;
}

IntervalSet complement(const IntervalSet& set, Interval window) {
  IntervalSet whole;
  whole.add(window);
  return subtract(whole, set);
}

Coverage::Coverage(const IntervalSet& set) : intervals_(&set.intervals()) {
  sums_.reserve(set.size() + 1);
  DurationNs sum = 0;
  sums_.push_back(0);
  for (const Interval& span : set) sums_.push_back(sum += span.length());
}

DurationNs Coverage::before(TimeNs time) const {
  const auto at = std::lower_bound(intervals_->begin(), intervals_->end(), time,
                                   [](const Interval& span, TimeNs t) { return span.end < t; });
  const auto position = static_cast<std::size_t>(at - intervals_->begin());
  const DurationNs partial =
      at != intervals_->end() && at->start < time ? time - at->start : DurationNs{0};
  return sums_[position] + partial;
}

}  // namespace pyrometer::analysis
