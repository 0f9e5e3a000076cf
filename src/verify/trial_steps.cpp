#include "verify/trial_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/confidence.h"
#include "verify/series.h"

namespace pyrometer::verify {
namespace {

bool know_samples(std::span<const TimedStep> steps) {
  return std::all_of(steps.begin(), steps.end(),
                     [](const TimedStep& step) { return step.samples > 0; });
}

double figure(const TimedStep& step, bool per_sample) {
  return static_cast<double>(step.length) / (per_sample ? static_cast<double>(step.samples) : 1.0);
}

// Mean without the longest tenth.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t kept = std::max<std::size_t>(1, values.size() - values.size() / 10);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(kept);
  return std::accumulate(values.begin(), end, 0.0) / static_cast<double>(kept);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Turn {
  int variant;
  std::vector<double> times;
};

// The second half: the first holds the start, where losses of all seeds fall alike.
std::span<const double> late(std::span<const double> losses, std::size_t count) {
  return losses.subspan(count / 2, count - count / 2);
}

}  // namespace

std::vector<double> turn_ratios(std::span<const TimedStep> all) {
  std::vector<TimedStep> steps;
  for (const TimedStep& step : all) {
    if (step.variant >= 0) steps.push_back(step);
  }
  const bool per_sample = know_samples(steps);
  constexpr std::size_t kAround = 2;  // the step in which it was switched, and the one after it
  std::vector<Turn> turns;
  std::size_t since = 0;
  for (const TimedStep& step : steps) {
    if (turns.empty() || turns.back().variant != step.variant) {
      turns.push_back({step.variant, {}});
      since = 0;
    }
    if (since++ >= kAround) turns.back().times.push_back(figure(step, per_sample));
  }
  // off, on on, off off, on on, …: but for the first, a run of equal variants holds two turns, of
  // which one belongs to the quartet before it. What is missing at the end is seen by its length.
  if (turns.empty()) return {};
  const std::size_t block = turns.front().times.size() + kAround;
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 2 < turns.size(); i += 2) {
    const Turn& before = turns[i];
    const Turn& on = turns[i + 1];
    const Turn& after = turns[i + 2];
    if (before.variant != 0 || on.times.size() + kAround < 2 * block ||
        after.times.size() + kAround < block) {
      break;
    }
    const auto half = [&](const std::vector<double>& times, bool front) {
      const std::size_t n = std::min(times.size(), block - kAround);
      return front ? std::vector<double>(times.begin(),
                                         times.begin() + static_cast<std::ptrdiff_t>(n))
                   : std::vector<double>(times.end() - static_cast<std::ptrdiff_t>(n), times.end());
    };
    const std::vector<double> first = half(before.times, false);
    const std::vector<double> last = half(after.times, true);
    if (first.empty() || last.empty() || on.times.empty()) break;
    ratios.push_back(std::log(trimmed_mean(on.times)) -
                     (std::log(trimmed_mean(first)) + std::log(trimmed_mean(last))) / 2);
  }
  return ratios;
}

std::optional<RunTime> run_time(std::span<const TimedStep> steps) {
  constexpr std::size_t kFewest = 5;
  Series series;
  for (const TimedStep& step : steps) {
    series.push_back({.length = step.length, .samples = step.samples});
  }
  const std::size_t warm_up = find_warm_up(series).rows;
  if (series.size() < warm_up + kFewest) return std::nullopt;
  const std::span<const TimedStep> rest = steps.subspan(warm_up);
  RunTime out{.per_sample = know_samples(rest), .steps = static_cast<std::int64_t>(rest.size())};
  double time = 0;
  double units = 0;
  for (const TimedStep& step : rest) {
    time += static_cast<double>(step.length);
    units += out.per_sample ? static_cast<double>(step.samples) : 1;
  }
  out.ns = time / units;
  out.step_ns = time / static_cast<double>(rest.size());
  return out;
}

std::vector<double> job_turn_ratios(std::span<const std::vector<TimedStep>> ranks) {
  std::vector<double> mean;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<double> own = turn_ratios(ranks[r]);
    if (r == 0) mean.resize(own.size());
    mean.resize(std::min(mean.size(), own.size()));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += own[i] / static_cast<double>(ranks.size());
    }
  }
  return mean;
}

std::optional<RunTime> job_time(std::span<const std::vector<TimedStep>> ranks) {
  std::vector<RunTime> own;
  bool per_sample = true;
  for (const std::vector<TimedStep>& steps : ranks) {
    const std::optional<RunTime> one = run_time(steps);
    if (!one) return std::nullopt;
    per_sample = per_sample && one->per_sample;
    own.push_back(*one);
  }
  if (own.empty()) return std::nullopt;
  RunTime out{.per_sample = per_sample, .steps = own.front().steps};
  double rate = 0;  // samples per ns
  for (const RunTime& one : own) {
    out.step_ns += one.step_ns / static_cast<double>(own.size());
    out.steps = std::min(out.steps, one.steps);
    rate += 1 / one.ns;
  }
  out.ns = per_sample ? 1 / rate : out.step_ns;
  return out;
}

std::vector<double> mean_losses(std::span<const std::vector<double>> ranks) {
  if (ranks.empty()) return {};
  std::vector<double> mean = ranks.front();
  for (const std::vector<double>& one : ranks) mean.resize(std::min(mean.size(), one.size()));
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (const std::vector<double>& one : ranks) sum += one[i];
    mean[i] = sum / static_cast<double>(ranks.size());
  }
  return mean;
}

LossJudgement judge_losses(std::span<const std::vector<double>> baseline,
                           std::span<const double> variant) {
  LossJudgement out;
  constexpr std::size_t kFewest = 4;
  std::size_t count = variant.size();
  for (const std::vector<double>& losses : baseline) count = std::min(count, losses.size());
  if (baseline.empty() || count < kFewest) {
    out.basis = "fewer than four steps had a loss that was seen";
    return out;
  }
  out.known = true;
  out.loss = mean_of(late(variant, count));
  std::vector<double> means;
  for (const std::vector<double>& losses : baseline) means.push_back(mean_of(late(losses, count)));
  out.baseline = means.front();
  const double centre = mean_of(means);
  double square = 0;
  for (const double mean : means) square += (mean - centre) * (mean - centre);
  const auto seeds = static_cast<double>(means.size());
  constexpr double kUpper = 0.975;
  const double rounding = 1e-4 * std::abs(out.baseline);
  double allowance = 0;
  if (means.size() > 1 && square > rounding * rounding) {
    allowance = std::sqrt(square / (seeds - 1) * (1 + 1 / seeds)) *
                analysis::student_t_quantile(kUpper, seeds - 1);
    out.basis = "the spread of " + std::to_string(means.size()) + " seeds";
  } else {
    const std::span<const double> losses = late(baseline.front(), count);
    double steps = 0;
    for (std::size_t i = 1; i < losses.size(); ++i) {
      steps += (losses[i] - losses[i - 1]) * (losses[i] - losses[i - 1]);
    }
    const auto n = static_cast<double>(losses.size());
    // Differences of neighbours scatter twice as much as the losses themselves.
    const double error = n > 1 ? std::sqrt(steps / (n - 1) / 2 / n) : 0;
    allowance = error * analysis::student_t_quantile(kUpper, std::max(1.0, n - 1));
    out.basis = "the scatter from step to step, as all seeds gave the same losses";
  }
  out.allowed = out.baseline + std::max(allowance, rounding);
  out.worse = !(out.loss <= out.allowed);
  return out;
}

}  // namespace pyrometer::verify
