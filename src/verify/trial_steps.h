// From the steps of trials to the ratios that decide.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/types.h"

namespace pyrometer::verify {

struct TimedStep {
  model::DurationNs length = 0;
  std::int64_t samples = -1;  // -1: not known
  int variant = -1;           // 0: without the override, 1: with it, -1: neither
};

// log(time with / time without) of each turn off, on, on, off of a run whose variant alternates.
// Within a turn the steps around a switch are left out, and of the rest the longest tenth: a
// checkpoint says nothing of the override. Time per sample where every step tells its samples, else
// per step. Turns that are cut off at the end do not count.
[[nodiscard]] std::vector<double> turn_ratios(std::span<const TimedStep> steps);
// Of all ranks of a job: the mean of theirs for each turn that all of them ended. Ranks wait for
// each other in each step, so that together they tell no more than one.
[[nodiscard]] std::vector<double> job_turn_ratios(std::span<const std::vector<TimedStep>> ranks);

// Of a run with one variant: ns per sample (or per step) after warm-up; absent with fewer than five
// steps left.
struct RunTime {
  double ns = 0;
  bool per_sample = false;
  std::int64_t steps = 0;
  double step_ns = 0;
};
[[nodiscard]] std::optional<RunTime> run_time(std::span<const TimedStep> steps);
// Of all ranks of a job: ns per sample of all of them together, which work at the same time; the
// mean time of a step; the fewest steps. Absent where it is of any of them.
[[nodiscard]] std::optional<RunTime> job_time(std::span<const std::vector<TimedStep>> ranks);

// Of the losses of the ranks of a job, step by step: their mean, over the steps that all have.
[[nodiscard]] std::vector<double> mean_losses(std::span<const std::vector<double>> ranks);

// Losses of the same first steps: whether those of a variant are worse than the baseline's differ
// from seed to seed.
struct LossJudgement {
  bool known = false;
  bool worse = false;
  double loss = 0;      // mean over the second half of the steps
  double baseline = 0;  // with the same seed
  double allowed = 0;   // the most that passes
  std::string basis;    // what the allowance is made from; or why nothing is known
};
// `baseline`: of the run with the seed that the variant had, first, then of runs with other seeds.
// The allowance is Student's 95% prediction limit over the seeds. Where the program seeds itself,
// all runs have the same losses, and the allowance comes from how the loss scatters from step to
// step.
[[nodiscard]] LossJudgement judge_losses(std::span<const std::vector<double>> baseline,
                                         std::span<const double> variant);

}  // namespace pyrometer::verify
