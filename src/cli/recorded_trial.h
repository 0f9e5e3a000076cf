// Runs a command under `pyrometer run`, watched: it ends in time, and with all it started.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "monitor/child.h"

namespace pyrometer::cli {

struct TrialRequest {
  std::vector<std::string> command;
  std::vector<std::string> run_options;  // of `pyrometer run`, e.g. --with
  std::vector<std::string> environment;  // NAME=value on top of our own
  std::string folder;                    // to run in; empty: the present one
  std::string recording;                 // a new file
  std::string log;                       // its output
  std::chrono::seconds most{0};          // 0: as long as it takes
  // Without a new step for so long it is taken to hang; 0: never. Twice as long before the first.
  std::chrono::seconds patience{0};
};

enum class TrialEnd : unsigned char { kEnded, kFailed, kHung, kOutOfTime, kInterrupted };

struct TrialOutcome {
  TrialEnd how = TrialEnd::kEnded;
  monitor::ChildEnd end;
  std::string last_words;  // of its output, where it failed: failure_words.h
  bool out_of_memory = false;
  std::chrono::milliseconds took{0};
  std::chrono::seconds waited{0};  // for a step, where it hung
};

// Errors: the program itself could not be started. Interrupts are seen through
// monitor::Interrupts, which the caller holds: the command is then asked to end, and waited for.
[[nodiscard]] base::Result<TrialOutcome> run_trial(const TrialRequest& request);

}  // namespace pyrometer::cli
