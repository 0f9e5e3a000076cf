// The course of `pyrometer tune`: the search, then the best in turns with the first configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/load_run.h"
#include "cli/trial_runner.h"
#include "recording/tune_file.h"
#include "tune/command_template.h"
#include "tune/result.h"
#include "tune/search.h"
#include "verify/sequential.h"

namespace pyrometer::cli {

struct TuneOptions {
  TrialRunner::Settings trials;  // its command is not used
  tune::Space space;
  tune::CommandTemplate command;
  tune::Point first;
  tune::Objective objective = tune::Objective::kSamplesPerSecond;
  // Nobody asked for it, and no dimension changes what a step is: steps count as well.
  bool steps_will_do = false;
  std::optional<double> target_loss;         // of kTimeToLoss
  std::optional<tune::SampleCount> samples;  // per step; absent: what the hook sees
  std::uint64_t seed = 1;
  std::size_t most = 0;  // configurations; 0: no limit
  std::vector<bool> grows_memory;
  double seconds = 10;  // of a trial at its longest
  std::chrono::steady_clock::time_point search_deadline;
  LoadOptions load;
  // Of the search, so many trials run side by side, each with one of these GPUs
  // (CUDA_VISIBLE_DEVICES); what is compared in turns has the first. Empty: one trial at a time,
  // with whatever the program sees.
  std::vector<std::string> gpus;
  // Before a trial that has a power limit; null: none has.
  std::function<base::Result<void>(double watts)> set_power_limit;
  bool keep = false;                            // the trials' recordings
  std::function<void(const std::string&)> say;  // what is being done, and what came of it
};

class TuneSession {
 public:
  // The file outlives it; what it holds is taken over as measured.
  TuneSession(TuneOptions options, recording::TuneFile& file);

  // An error: the objective cannot be measured here, or nothing works. Everything else is in the
  // result, also what was known when Ctrl-C came.
  [[nodiscard]] base::Result<tune::TuneResult> run();

 private:
  // Nothing: stopped, by Ctrl-C, by the budget or an error; `stop_` says which.
  [[nodiscard]] std::optional<tune::Measurement> measure(tune::Measurement wanted,
                                                         std::size_t slot);
  // Side by side, one in each slot.
  [[nodiscard]] std::vector<std::optional<tune::Measurement>> measure_all(
      const std::vector<tune::Measurement>& wanted);
  [[nodiscard]] monitor::TrialOptions trial_options(const tune::Measurement& wanted) const;
  // Takes in what a trial told. Nothing: it tells that the search cannot go on.
  [[nodiscard]] std::optional<tune::Measurement> take(const TrialReading& reading,
                                                      tune::Measurement wanted);
  [[nodiscard]] std::optional<tune::Measurement> kept(const tune::Measurement& wanted) const;
  void read_trial(const TrialReading& reading, tune::Measurement& one);
  // Why the objective is not known of a trial that worked, and what to do; empty: it is.
  [[nodiscard]] base::Error unknown_objective(const tune::Measurement& one) const;
  void settle_objective(const tune::Measurement& first);
  // Goes on with the search; with `only_kept` as far as earlier sessions came.
  [[nodiscard]] base::Result<void> search(tune::Search& search, bool only_kept);
  void find_first_round();
  // The search beyond what finished finals compared, and finals of what it found.
  [[nodiscard]] base::Result<void> search_on(tune::Search& search);
  void compare_finalists(const std::vector<tune::Point>& finalists);
  void decide(const verify::Sequential& test, tune::Final& final) const;
  void conclude(bool first_works);
  [[nodiscard]] std::string command_line(const tune::Point& point) const;

  TuneOptions options_;
  recording::TuneFile& file_;
  std::vector<std::unique_ptr<TrialRunner>> runners_;  // by slot
  std::mutex mutex_;  // of all below and the file, while trials run side by side
  std::vector<tune::Measurement> earlier_;  // of earlier sessions
  tune::TuneResult result_;
  verify::RunSummary last_run_;         // of the trial that was read last
  std::deque<tune::Question> pending_;  // that the search asked and nobody has answered
  int first_round_ = 0;    // of the finals: those of each part of the search have their own
  std::size_t fresh_ = 0;  // trials of this session
  std::optional<base::Error> failed_;
  bool stopped_ = false;
};

}  // namespace pyrometer::cli
