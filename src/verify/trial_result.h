// What `pyrometer try` found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/overrides.h"
#include "verify/bootstrap.h"
#include "verify/trial_steps.h"

namespace pyrometer::verify {

enum class FixVerdict : std::uint8_t {
  kGain,       // faster, beyond chance
  kSame,       // whatever difference there is, is smaller than 1%
  kSlower,     // beyond chance
  kUndecided,  // within the budget
  kRejected,   // it failed, or the loss got worse
  kSkipped,    // not tried
};

struct TriedFix {
  std::vector<model::Override> overrides;  // one, or several together
  std::string title;
  std::string finding;                // id of the finding that asked for it; empty: --fix
  std::optional<Interval> predicted;  // time with / time without
  FixVerdict verdict = FixVerdict::kUndecided;
  std::string reason;       // of a rejection, a skip, or what is left undecided
  Interval ratio;           // time per sample (or step) with / without
  std::size_t pairs = 0;    // that were compared
  bool alternated = false;  // within runs; else run against run
  LossJudgement loss;
  double peak_memory = -1;         // bytes; -1: not known
  std::vector<double> energy;      // J of the GPUs per sample, one value per run with it all along
  std::string applied;             // what the hook says it did, e.g. "num_workers 0 -> 2"
  std::vector<std::string> where;  // the user's own lines
};

struct TryResult {
  std::optional<RunTime> baseline;
  double noise = -1;  // relative spread from run to run of the unchanged program; -1: not known
  double baseline_peak_memory = -1;
  std::vector<double> baseline_energy;  // J of the GPUs per sample, one value per run
  std::string why_no_energy;            // of the first run; "" where it is known
  std::int64_t ranks = 1;               // that train together; time per sample is of all of them
  std::int64_t gpus = 0;
  std::optional<double> usd_per_gpu_hour;
  std::vector<TriedFix> fixes;
  std::optional<TriedFix> together;   // the best ones
  std::vector<model::Override> best;  // to go on with; empty: nothing to gain
  Interval best_ratio;
  bool interrupted = false;
  bool out_of_budget = false;
  std::vector<std::string> command;
  std::vector<std::string> notes;
};

}  // namespace pyrometer::verify
