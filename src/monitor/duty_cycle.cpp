#include "monitor/duty_cycle.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pyrometer::monitor {
namespace {

constexpr double kSecond = 1e9;  // ns
// At first all is watched, so that short runs are kept whole: this long, or so many steps, for in a
// run of many small steps watching costs most and a few seconds show enough.
constexpr double kUndisturbed = 6 * kSecond;
constexpr double kLeastUndisturbed = 2 * kSecond;
constexpr std::int64_t kUndisturbedSteps = 500;
constexpr double kShortestTurn = 0.4 * kSecond;
constexpr double kLongestTurn = 20 * kSecond;
constexpr double kLongestPause = 60 * kSecond;  // longest turn off, where the budget is overdrawn
constexpr std::size_t kStepsPerTurn = 8;
constexpr std::size_t kMostStepsPerTurn = 4096;
constexpr std::int64_t kSettling = 2;  // steps after a switch that still feel it …
constexpr model::DurationNs kSettlingTime = 50'000'000;  // … or this long, ns
constexpr std::size_t kFirstComparisons = 5;
constexpr std::size_t kMostComparisons =
    256;  // the latest: what watching costs changes with the program
constexpr std::size_t kFewestForRanks = 6;  // fewer cannot give an interval of 95%
constexpr double kSmallestShare = 0.02;
constexpr double kLargestShare = 0.9;  // some time off always remains, to go on measuring
// Neighbouring comparisons share a turn off, with half its weight: they are correlated by 1/6 where
// all turns scatter alike, which makes the error of their mean sqrt(1 + 2/6) times as large.
constexpr double kSharedTurns = 1.155;

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

void DutyCycle::add_step(model::Interval span, bool watched, bool mixed) {
  const auto length = static_cast<double>(span.length());
  if (first_step_ == 0) first_step_ = span.start;
  ++steps_;
  (watched ? time_on_ : time_off_) += length;
  typical_step_ = typical_step_ == 0 ? length : 0.9 * typical_step_ + 0.1 * length;
  if (budget_ <= 0 && !measure_) return;
  if (mixed || (turn_.known && watched != turn_.on)) close_turn();
  if (!mixed && !turn_.known) {
    turn_.known = true;
    turn_.on = watched;
    turn_.start = span.start;
  }
  const bool settled =
      turn_.settling_steps >= kSettling && span.start >= turn_.start + kSettlingTime;
  if (mixed || !settled) {
    turn_.settling_time += length;
    ++turn_.settling_steps;
  } else {
    turn_.add(length);
  }
}

void DutyCycle::Turn::add(double length) {
  if (seen++ % stride != 0) return;
  steps.push_back(length);
  if (steps.size() < kMostStepsPerTurn) return;
  for (std::size_t i = 0; 2 * i < steps.size(); ++i) steps[i] = steps[2 * i];
  steps.resize(steps.size() / 2);
  stride *= 2;
}

void DutyCycle::close_turn() {
  Turn turn = std::exchange(turn_, Turn{});
  if (!turn.known) {
    // Switched again before a whole step: the cost goes to the next turn.
    turn_.settling_time = turn.settling_time;
    turn_.settling_steps = turn.settling_steps;
    return;
  }
  if (turn.steps.size() < kStepsPerTurn) {
    closed_.clear();
    return;
  }
  const double mean = trimmed_mean(turn.steps);
  const bool first = !any_closed_;
  any_closed_ = true;
  // Before the first turn nothing was switched.
  if (!first) switching_ += turn.settling_time - static_cast<double>(turn.settling_steps) * mean;
  if (!closed_.empty() && closed_.back().on == turn.on) closed_.clear();
  closed_.push_back({turn.on, std::log(mean)});
  if (closed_.size() > 3) closed_.pop_front();
  if (closed_.size() == 3 && turn.on == false) {
    ratios_.push_back(closed_[1].log_mean - (closed_[0].log_mean + closed_[2].log_mean) / 2);
    if (ratios_.size() > kMostComparisons) ratios_.pop_front();
    ++comparisons_;
    find_middle();
    set_share();
  }
}

// M. Hollander, D. A. Wolfe: Nonparametric Statistical Methods, chapter 3: the estimate is the
// median of the means of all pairs, the interval reaches to those that the signed-rank test does
// not refuse (normal approximation). With fewer than six: mean and Student's t.
void DutyCycle::find_middle() {
  const std::size_t count = ratios_.size();
  const auto n = static_cast<double>(count);
  if (count < kFewestForRanks) {
    double mean = 0;
    for (const double ratio : ratios_) mean += ratio / n;
    double square = 0;
    for (const double ratio : ratios_) square += (ratio - mean) * (ratio - mean);
    const double error =
        count < 2 ? 0 : kSharedTurns * std::sqrt(square / (n - 1) / n) * student_t(count - 1);
    middle_ = {.value = mean, .low = mean - error, .high = mean + error};
    return;
  }
  std::vector<double> means;
  means.reserve(count * (count + 1) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i; j < count; ++j) means.push_back((ratios_[i] + ratios_[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  const std::size_t last = means.size() - 1;
  const double spread = 1.96 * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const double rank = std::max(0.0, std::floor(static_cast<double>(means.size()) / 2 - spread));
  const auto k = static_cast<std::size_t>(rank);
  const double value = (means[last / 2] + means[means.size() / 2]) / 2;
  middle_ = {.value = value,
             .low = value - kSharedTurns * (value - means[k]),
             .high = value + kSharedTurns * (means[last - k] - value)};
}

void DutyCycle::set_share() {
  if (ratios_.size() < kFirstComparisons) return;
  // What is surely spent must fit: the estimate itself, and never less than a third of its
  // uncertainty, so that a noisy machine is not taken for a free one.
  const model::OverheadEstimate now = estimate();
  const double cost = std::max({now.ratio, (now.high - now.low) / 6, 1e-6});
  on_share_ = std::clamp(budget_ / cost, kSmallestShare, kLargestShare);
}

// ns of the run so far that watching cost, as far as it is known.
double DutyCycle::spent() const {
  const model::OverheadEstimate now = estimate();
  return now.measured ? std::max(0.0, now.ratio) * time_on_ + std::max(0.0, switching_) : 0;
}

// The shorter of the two turns is as short as a comparison allows, the other one makes the share:
// many short comparisons see a machine's drift where few long ones take it for a cost.
model::DurationNs DutyCycle::turn_length() const {
  const double needed = typical_step_ * static_cast<double>(kStepsPerTurn + 2 * kSettling);
  double length = std::clamp(needed, kShortestTurn, kLongestTurn);
  if (ratios_.size() >= kFirstComparisons && !measure_) {
    const double share = on_ ? on_share_ : 1 - on_share_;
    if (share > 1 - share) length *= share / (1 - share);
    if (!on_) {
      // Debts of the beginning, when nothing was known, are paid back.
      const double debt = spent() / budget_ - (time_on_ + time_off_);
      length = std::max(length, std::min(debt, kLongestPause));
    }
  }
  return static_cast<model::DurationNs>(length);
}

bool DutyCycle::want_on(model::TimeNs now) {
  if ((budget_ <= 0 && !measure_) || first_step_ == 0) return true;
  const auto passed = static_cast<double>(now - first_step_);
  const bool shown = steps_ >= kUndisturbedSteps && passed >= kLeastUndisturbed;
  if (passed < kUndisturbed && !shown) return true;
  if (wanted_since_ == 0) wanted_since_ = now;
  if (now - wanted_since_ < turn_length()) return on_;
  on_ = !on_;
  wanted_since_ = now;
  return on_;
}

model::OverheadEstimate DutyCycle::estimate() const {
  model::OverheadEstimate result;
  const double whole = time_on_ + time_off_;
  result.duty = whole > 0 ? time_on_ / whole : 1;
  result.windows = comparisons_;
  result.switching = whole > 0 ? switching_ / whole : 0;
  if (budget_ <= 0 && !measure_) {
    result.why_not = "measuring it was switched off";
    return result;
  }
  constexpr std::size_t kFewest = 3;
  if (ratios_.size() < kFewest) {
    result.why_not = "the run was too short, or had too few steps, to compare";
    return result;
  }
  result.measured = true;
  result.ratio = std::expm1(middle_.value);
  result.low = std::expm1(middle_.low);
  result.high = std::expm1(middle_.high);
  return result;
}

}  // namespace pyrometer::monitor
