#include "verify/sequential.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pyrometer::verify {

Sequential::Sequential(SequentialLimits limits) : limits_(limits) {
  limits_.fewest = std::max<std::size_t>(2, limits_.fewest);
  limits_.most = std::max(limits_.fewest, limits_.most);
  for (std::size_t pairs = limits_.fewest; pairs < limits_.most;
       pairs = std::max(pairs + 1, pairs + pairs / 4)) {
    looks_.push_back(pairs);
  }
  looks_.push_back(limits_.most);
}

double Sequential::level_at(std::size_t look) const {
  const auto spent = [this](std::size_t pairs) {
    const double part = static_cast<double>(pairs) / static_cast<double>(limits_.most);
    return limits_.error * std::log1p((std::numbers::e - 1) * part);
  };
  return 1 - (spent(looks_[look]) - (look == 0 ? 0 : spent(looks_[look - 1])));
}

void Sequential::add(double log_ratio) {
  if (done()) return;
  ratios_.push_back(log_ratio);
  if (ratios_.size() == looks_[next_]) look();
}

void Sequential::look() {
  const Interval now = mean_interval(ratios_, level_at(next_), ratios_.size());
  ++next_;
  if (!now.known) return;
  if (now.high < 0) decision_ = Decision::kFaster;
  if (now.low > 0) decision_ = Decision::kSlower;
  if (decision_ != Decision::kUndecided) return;
  if (now.low > -limits_.margin && now.high < limits_.margin) decision_ = Decision::kSame;
}

bool Sequential::done() const {
  return decision_ != Decision::kUndecided || next_ == looks_.size();
}

Interval Sequential::estimate() const {
  return mean_interval(ratios_, level_at(next_ == 0 ? 0 : next_ - 1), ratios_.size());
}

}  // namespace pyrometer::verify
