// Records one run of a command, from its start to its end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "monitor/child.h"
#include "monitor/ring_set.h"
#include "monitor/status_line.h"
#include "monitor/trial.h"

namespace pyrometer::monitor {

struct MonitorOptions {
  std::vector<std::string> command;
  std::string output;       // the recording; must not exist
  std::string library;      // libpyrometer_inject.so; empty: no GPU timeline
  std::string hook_folder;  // of the Python hook's sitecustomize.py; empty: no hook
  bool record_arguments = false;
  bool count_flops = false;  // of one step, by the hook
  RecorderOptions recorder;
  TrialOptions trial;
  StatusLine::Place status = StatusLine::Place::kNowhere;
  // Told before the command starts that it will not be recorded, and why: nobody wants to learn
  // that after days.
  std::function<void(const base::Error&)> on_problem;
  // Told while the command runs: one sentence for the user, as that an override cannot be applied.
  std::function<void(const std::string&)> on_warning;
};

struct Outcome {
  ChildEnd end;
  // Why the recording is incomplete or missing; the command itself ran all the same.
  std::optional<base::Error> recording_error;
  bool recorded = false;               // there is a file to look at
  std::int64_t processes = 0;          // that wrote a ring
  std::int64_t processes_trained = 0;  // that used a GPU or made steps
  std::int64_t processes_without_room = 0;
  std::vector<std::string> notes;  // for the user, one sentence each
  std::vector<OverrideStatus> overrides;
};

// Runs the command and records it. The command's behaviour has precedence: whatever fails on our
// side becomes a note, and the command runs on. Errors: the command could not be started.
[[nodiscard]] base::Result<Outcome> record(const MonitorOptions& options);

}  // namespace pyrometer::monitor
