// One trial of a training: its overrides, its recording, what came of it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/recorded_trial.h"
#include "monitor/trial.h"
#include "recording/trial_reader.h"
#include "verify/trial_steps.h"

namespace pyrometer::cli {

struct TrialReading {
  TrialEnd how = TrialEnd::kEnded;
  std::string failure;         // why it is of no use, in words; empty: it is
  bool out_of_memory = false;  // which is why it failed
  std::chrono::milliseconds took{0};
  std::string recording;  // file
  recording::TrialRecord record;
  std::vector<verify::TimedStep> steps;               // of the leading process
  std::vector<std::vector<verify::TimedStep>> ranks;  // of each rank of the job, that one too
  std::vector<double> losses;                         // step by step, mean of the ranks
  std::optional<double> joules_per_sample;            // of the GPUs; not of trials in turns
  std::string why_no_energy;
};

// What is run, where it is not the command of the settings as it is.
struct TrialCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=value
  // What an override asks for may be what the program does itself.
  bool so_already_will_do = false;
};

class TrialRunner {
 public:
  struct Settings {
    std::vector<std::string> command;
    std::string scratch;  // for recordings and logs
    std::string folder;   // to run in; empty: the present one
    std::chrono::seconds patience{0};
    std::chrono::steady_clock::time_point deadline;
  };
  explicit TrialRunner(Settings settings) : settings_(std::move(settings)) {}

  // Errors: the program cannot be started, or a recording cannot be read. That the command fails,
  // hangs or refuses an override is no error.
  [[nodiscard]] base::Result<TrialReading> run(const monitor::TrialOptions& trial) {
    return run(trial, {.words = settings_.command, .environment = {}});
  }
  [[nodiscard]] base::Result<TrialReading> run(const monitor::TrialOptions& trial,
                                               const TrialCommand& command);
  // How long such a trial takes: its steps, and what the longest one took besides; 0: there was
  // none yet.
  [[nodiscard]] std::chrono::milliseconds expected(const monitor::TrialOptions& trial) const;
  [[nodiscard]] std::chrono::milliseconds left() const;

 private:
  Settings settings_;
  int number_ = 0;
  std::optional<std::chrono::milliseconds> besides_;  // starting and ending, the longest so far
};

}  // namespace pyrometer::cli
