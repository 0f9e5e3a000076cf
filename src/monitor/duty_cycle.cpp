#include "monitor/duty_cycle.h"

#include <algorithm>
#include <cmath>

namespace pyrometer::monitor {
namespace {

constexpr double kSecond = 1e9;               // ns
constexpr double kUndisturbed = 6 * kSecond;  // at first all is watched: short runs are kept whole
constexpr double kShortestTurn = 0.4 * kSecond;
constexpr double kLongestTurn = 20 * kSecond;
constexpr std::size_t kStepsPerTurn = 8;
constexpr std::int64_t kSettling = 2;  // steps after a switch that still feel it …
constexpr model::DurationNs kSettlingTime = 50'000'000;  // … or this long, ns
constexpr std::size_t kFirstPairs = 6;
constexpr double kSmallestShare = 0.05;
constexpr double kLargestShare = 0.9;  // some time off always remains, to go on measuring

// Two-sided 95% quantile of Student's t (tables; beyond 30 degrees of freedom near the normal's).
double student_t(std::size_t degrees) {
  constexpr double kTable[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
                               2.20,  2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09,
                               2.08,  2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04};
  if (degrees == 0) return kTable[0];
  return degrees <= std::size(kTable) ? kTable[degrees - 1] : 1.98;
}

// Mean without the longest tenth: a checkpoint says nothing about the cost of capture.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t kept = std::max<std::size_t>(1, values.size() - values.size() / 10);
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) sum += values[i];
  return sum / static_cast<double>(kept);
}

}  // namespace

DutyCycle::DutyCycle(double budget, bool measure) : budget_(budget), measure_(measure) {}

bool DutyCycle::enough(const Turn& turn) const { return turn.steps.size() >= kStepsPerTurn; }

void DutyCycle::add_step(model::Interval span, bool watched, bool mixed) {
  const auto length = static_cast<double>(span.length());
  if (first_step_ == 0) first_step_ = span.start;
  (watched ? time_on_ : time_off_) += length;
  typical_step_ = typical_step_ == 0 ? length : 0.9 * typical_step_ + 0.1 * length;
  if (mixed || watched != on_) return;
  if (settled_ < kSettling || (turn_start_ != 0 && span.start < turn_start_ + kSettlingTime)) {
    ++settled_;
    return;
  }
  turn_.on = watched;
  turn_.steps.push_back(length);
}

// The shorter of the two turns is as short as a comparison allows, the other one makes the share:
// many short comparisons see a machine's drift where few long ones take it for a cost.
model::DurationNs DutyCycle::turn_length() const {
  const double needed = typical_step_ * static_cast<double>(kStepsPerTurn + 2 * kSettling);
  double length = std::clamp(needed, kShortestTurn, kLongestTurn);
  if (ratios_.size() >= kFirstPairs && !measure_) {
    const double share = on_ ? on_share_ : 1 - on_share_;
    if (share > 1 - share) length *= share / (1 - share);
  }
  return static_cast<model::DurationNs>(length);
}

void DutyCycle::close_turn() {
  if (enough(turn_)) {
    const double mean = trimmed_mean(turn_.steps);
    if (last_mean_ > 0 && last_on_ != turn_.on) {
      ratios_.push_back(turn_.on ? std::log(mean / last_mean_) : std::log(last_mean_ / mean));
    }
    last_mean_ = mean;
    last_on_ = turn_.on;
  } else {
    last_mean_ = 0;
  }
  turn_.steps.clear();
  if (ratios_.size() >= kFirstPairs) {
    // What is surely spent must fit: the estimate itself, and never less than a third of its
    // uncertainty, so that a noisy machine is not taken for a free one.
    const model::OverheadEstimate now = estimate();
    const double cost = std::max({now.ratio, (now.high - now.low) / 6, 1e-6});
    on_share_ = std::clamp(budget_ / cost, kSmallestShare, kLargestShare);
  }
}

bool DutyCycle::want_on(model::TimeNs now) {
  if ((budget_ <= 0 && !measure_) || first_step_ == 0) return true;
  if (static_cast<double>(now - first_step_) < kUndisturbed) return true;
  if (turn_start_ == 0) turn_start_ = now;
  if (now - turn_start_ < turn_length()) return on_;
  close_turn();
  on_ = !on_;
  settled_ = 0;
  turn_start_ = now;
  return on_;
}

model::OverheadEstimate DutyCycle::estimate() const {
  model::OverheadEstimate result;
  const double whole = time_on_ + time_off_;
  result.duty = whole > 0 ? time_on_ / whole : 1;
  result.windows = static_cast<std::int64_t>(ratios_.size());
  if (budget_ <= 0 && !measure_) {
    result.why_not = "measuring it was switched off";
    return result;
  }
  constexpr std::size_t kFewest = 3;
  if (ratios_.size() < kFewest) {
    result.why_not = "the run was too short, or had too few steps, to compare";
    return result;
  }
  double mean = 0;
  for (const double ratio : ratios_) mean += ratio;
  mean /= static_cast<double>(ratios_.size());
  double square = 0;
  for (const double ratio : ratios_) square += (ratio - mean) * (ratio - mean);
  const auto n = static_cast<double>(ratios_.size());
  const double error = std::sqrt(square / (n - 1) / n) * student_t(ratios_.size() - 1);
  result.measured = true;
  result.ratio = std::expm1(mean);
  result.low = std::expm1(mean - error);
  result.high = std::expm1(mean + error);
  return result;
}

}  // namespace pyrometer::monitor
