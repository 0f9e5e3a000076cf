// Steps of a run in time order, and what can be said of them when neighbours resemble each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::verify {

// One step, or several in a row, of one rank.
struct StepRow {
  model::TimeNs start = 0;
  model::DurationNs length = 0;  // of all steps of the row together
  std::int64_t count = 1;        // steps
  std::int64_t samples = -1;     // -1: not known
  model::DurationNs input_wait = 0;
  // ns of the rank's devices, their mean; sums to `length`. Meaningless unless `watched`.
  model::CauseTimes causes{};
  bool watched = false;
};

using Series = std::vector<StepRow>;

// Neighbours joined until at most `most` rows are left, each of about as many steps.
[[nodiscard]] Series thinned(const Series& series, std::size_t most);

// Mean ns of a step over the rows; 0 without steps.
[[nodiscard]] double mean_step(const Series& series);

// How many values in a row tell as much as one independent value, at least 1: the integrated
// autocorrelation time, summed up to where the window is five times as long as the sum so far
// (A. Sokal: Monte Carlo Methods in Statistical Mechanics, 1997). 1 for fewer than eight values.
[[nodiscard]] double correlation_length(std::span<const double> values);

// Warm-up that was found in a series.
struct WarmUp {
  std::size_t rows = 0;  // to leave out at the front
  bool over = true;      // false: the series was still changing at its middle; rows is its half
};

// MSER (K. White: An Effective Truncation Heuristic for Bias Reduction in Simulation Output, 1997):
// leaves out as much of the front as makes the error of the remaining mean smallest. Judged on
// logarithms of the time per step, single long steps (pauses, checkpoints) cut off, so that they
// are no warm-up; always the first row, whose step holds the start, where there are others.
// `over` is false where the optimum lies at the middle or beyond it.
[[nodiscard]] WarmUp find_warm_up(const Series& series);

}  // namespace pyrometer::verify
