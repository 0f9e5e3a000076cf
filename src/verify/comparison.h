// Two runs, or two groups of runs, side by side: what changed, how sure that is, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/waterfall.h"
#include "verify/bootstrap.h"
#include "verify/run_summary.h"

namespace pyrometer::verify {

// What the intervals are made from.
enum class Basis : std::uint8_t {
  kNone,   // too few steps
  kSteps,  // steps of one run each: what differs from run to run is not in them
  kRuns,   // several runs: each counts as one value
};

// A figure on both sides. Where a side does not know it, `missing` says why and nothing else
// counts.
struct Change {
  double a = 0, b = 0;  // means over the runs of each side
  Interval difference;  // b − a, in the figure's unit
  Interval ratio;       // b / a; not known where a is 0
  std::string missing;
  [[nodiscard]] bool known() const { return missing.empty(); }
  // The interval of the difference leaves out 0.
  [[nodiscard]] bool sure() const {
    return known() && difference.known && (difference.low > 0 || difference.high < 0);
  }
};

struct CauseChange {
  model::Cause cause;
  Change ns;  // per step and GPU
};

enum class KernelFate : std::uint8_t { kNew, kGone, kSlower, kFaster, kMoreCalls, kFewerCalls };

struct KernelChange {
  std::string name;
  KernelFate fate = KernelFate::kNew;
  KernelUse a, b;
  [[nodiscard]] double delta() const { return b.ns - a.ns; }  // ns per step and GPU
};

struct SettingChange {
  std::string key, a, b;  // "" : not there
};

struct FindingChange {
  std::string id, title;
  bool in_a = false, in_b = false;
  double share_a = 0, share_b = 0;  // of the time; 0 where it is not there
};

struct Side {
  std::vector<std::string> labels;  // of its runs
  std::vector<std::string> gpus;
  std::int64_t steps = 0;          // of all its runs
  std::int64_t warm_up_steps = 0;  // left out, of the run with the most
  std::optional<double> samples_per_step;
  std::optional<double> usd_per_gpu_hour;  // of its first run
};

struct Comparison {
  // Why the two are not alike, a sentence each. Said first: it decides what the rest means.
  std::vector<std::string> unlike;
  std::vector<std::string> notes;  // how far the figures can be believed
  Side a, b;
  Basis basis = Basis::kNone;
  Change step;        // ns per step
  Change sample;      // ns per sample, all ranks together
  Change input_wait;  // ns per step
  std::vector<CauseChange>
      causes;  // largest change first; sum of the differences = GPU time per step
  std::string why_no_causes;
  std::vector<KernelChange> kernels;  // largest change first
  std::string why_no_kernels;
  Change memory;  // bytes, peak
  Change energy;  // J of the GPUs per sample
  std::vector<SettingChange> settings;
  std::vector<FindingChange> findings;  // new and gone ones first
};

// Neither side may be empty.
[[nodiscard]] Comparison compare(std::span<const RunSummary> a, std::span<const RunSummary> b);

// The time that decides: per sample where both know their samples, else per step.
[[nodiscard]] const Change& decisive(const Comparison& comparison);

// b/a of figures that runs have one value each of, by their logarithms (Welch; a side with one run
// takes over the other's spread). Values are > 0. Not known with one run on both sides.
[[nodiscard]] Interval ratio_of_runs(std::span<const double> a, std::span<const double> b,
                                     double level = 0.95);

}  // namespace pyrometer::verify
