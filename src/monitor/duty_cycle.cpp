#include "monitor/duty_cycle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/confidence.h"

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
constexpr double kSmallestShare = 0.02;
constexpr double kLargestShare = 0.9;  // some time off always remains, to go on measuring
// Neighbouring comparisons share a turn off, with half its weight: they are correlated by 1/6 where
// all turns scatter alike, which makes the error of their mean sqrt(1 + 2/6) times as large.
constexpr double kSharedTurns = 1.155;

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
    middle_ =
        analysis::robust_middle(std::vector<double>(ratios_.begin(), ratios_.end()), kSharedTurns);
    set_share();
  }
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
