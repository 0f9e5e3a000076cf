// Unions of time intervals: the arithmetic behind busy, exposed and overlapped time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/types.h"

namespace pyrometer::analysis {

// A set of points in time, kept as disjoint half-open intervals [start, end) in ascending order.
// Intervals that touch are one; empty and negative ones are nothing. All ns, on one clock.
// Not thread-safe while it is being written.
class IntervalSet {
 public:
  IntervalSet() = default;
  // Of intervals in any order, overlapping or not: O(n log n), O(n) when already sorted by start.
  explicit IntervalSet(std::vector<model::Interval> intervals);

  // Adds [start, end); `start` must not lie before the start of an earlier add(). Amortised O(1).
  void add(model::TimeNs start, model::TimeNs end);
  void add(model::Interval span) { add(span.start, span.end); }
  void reserve(std::size_t intervals) { intervals_.reserve(intervals); }

  [[nodiscard]] const std::vector<model::Interval>& intervals() const { return intervals_; }
  [[nodiscard]] std::size_t size() const { return intervals_.size(); }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] auto begin() const { return intervals_.begin(); }
  [[nodiscard]] auto end() const { return intervals_.end(); }

  [[nodiscard]] model::DurationNs length() const;         // O(n)
  [[nodiscard]] bool contains(model::TimeNs time) const;  // O(log n)
  // Length of the part inside `span`: O(log n + intervals touched). For many queries see Coverage.
  [[nodiscard]] model::DurationNs length_within(model::Interval span) const;
  // From the first start to the last end; {0, 0} when empty.
  [[nodiscard]] model::Interval hull() const;

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  // Position of the first interval that ends after `time`.
  [[nodiscard]] std::size_t first_ending_after(model::TimeNs time) const;
  friend IntervalSet clip(const IntervalSet& set, model::Interval window);

  std::vector<model::Interval> intervals_;
};

// All O(|a| + |b|).
[[nodiscard]] IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
[[nodiscard]] IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
[[nodiscard]] IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
// Length of the intersection, without building it.
[[nodiscard]] model::DurationNs overlap_length(const IntervalSet& a, const IntervalSet& b);
// The part inside `window`, and the part of `window` outside the set.
[[nodiscard]] IntervalSet clip(const IntervalSet& set, model::Interval window);
[[nodiscard]] IntervalSet complement(const IntervalSet& set, model::Interval window);

// Answers "how much of the set lies within [a, b)" in O(log n) however many intervals that is.
// Refers to the set: the set must outlive it, unchanged and unmoved.
class Coverage {
 public:
  explicit Coverage(const IntervalSet& set);
  // Length of the set before `time`.
  [[nodiscard]] model::DurationNs before(model::TimeNs time) const;
  [[nodiscard]] model::DurationNs within(model::TimeNs start, model::TimeNs end) const {
    return end > start ? before(end) - before(start) : 0;
  }

 private:
  const std::vector<model::Interval>* intervals_;
  std::vector<model::DurationNs> sums_;  // length of the intervals before each; one more at the end
};

}  // namespace pyrometer::analysis
