#include "monitor/keep_policy.h"

#include <utility>

namespace pyrometer::monitor {

// The first steps build caches, choose algorithms, compile: they are warm-up until a segment is no
// more than a quarter faster than the one before it.
bool KeepPolicy::warm(const Segment& segment) {
  if (is_warm_) return true;
  constexpr std::int64_t kLeastSteps = 3;
  constexpr std::int64_t kMostSteps = 50;
  constexpr double kSteady = 0.75;
  const double mean = segment.steps > 0 ? static_cast<double>(segment.span.length()) /
                                              static_cast<double>(segment.steps)
                                        : 0;
  const bool steady = last_step_ > 0 && mean > kSteady * last_step_;
  last_step_ = mean;
  const bool known = segment.first_step >= kLeastSteps;
  is_warm_ =
      (known && steady) || segment.first_step >= kMostSteps || (segment.first_step < 0 && steady);
  return is_warm_;
}

void KeepPolicy::add(Segment segment) {
  if (!warm(segment)) {
    warm_up_rows_ += segment.rows.size();
    warm_up_.push_back(std::move(segment));
    while (warm_up_rows_ > limits_.latest_rows && warm_up_.size() > 1) {
      warm_up_rows_ -= warm_up_.front().rows.size();
      warm_up_.pop_front();
    }
    return;
  }
  warm_up_.clear();
  const bool is_slowest =
      segment.longest > slowest_.longest && segment.rows.size() <= limits_.slowest_rows;
  if (first_used_ + segment.rows.size() <= limits_.first_rows && latest_.empty()) {
    first_used_ += segment.rows.size();
    writer_.add_window(process_, {segment.span, "regular"}, segment.rows);
    if (is_slowest) {
      // On disk already: its length alone matters from here on.
      slowest_ = Segment{};
      slowest_.longest = segment.longest;
    }
    return;
  }
  if (is_slowest) slowest_ = segment;
  hold_latest(std::move(segment));
}

void KeepPolicy::hold_latest(Segment segment) {
  latest_rows_ += segment.rows.size();
  latest_.push_back(std::move(segment));
  while (latest_rows_ > limits_.latest_rows && latest_.size() > 1) {
    latest_rows_ -= latest_.front().rows.size();
    latest_.pop_front();
  }
}

void KeepPolicy::finish() {
  const bool nothing_else = first_used_ == 0 && latest_.empty();
  if (nothing_else) {
    for (const Segment& segment : warm_up_) {
      writer_.add_window(process_, {segment.span, "warm-up"}, segment.rows);
    }
  }
  bool slowest_is_latest = false;
  for (const Segment& segment : latest_) {
    writer_.add_window(process_, {segment.span, "regular"}, segment.rows);
    slowest_is_latest = slowest_is_latest || segment.span == slowest_.span;
  }
  if (!slowest_is_latest && slowest_.span.length() > 0) {
    writer_.add_window(process_, {slowest_.span, "slowest"}, slowest_.rows);
  }
  warm_up_.clear();
  latest_.clear();
  slowest_ = Segment{};
}

}  // namespace pyrometer::monitor
