// What a recording knows of a trial (docs/concepts/overrides.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/types.h"

namespace pyrometer::recording {

struct TrialStep {
  std::int64_t index = 0;
  model::Interval span;
  std::string variant;        // "on", "off"; "" where none alternate
  std::int64_t samples = -1;  // -1: not known
};

// What one process tells of a trial.
struct TrialProcess {
  std::int64_t id = -1;          // in the recording
  std::int32_t rank = -1;        // −1: not known
  std::int32_t world_size = -1;  // the same

  std::vector<TrialStep> steps;           // by time
  std::vector<double> losses;             // of the first steps, those that were finite
  std::vector<model::TimeNs> loss_times;  // ends of the steps that they are of
  std::string loss_not_finite;  // "step 12": the first whose loss was no finite number; "": none
  bool program_seeds = false;   // the program seeded torch after us
  // By id, of the process: "applied: …", "waiting: …", "cannot: because …".
  std::map<std::string, std::string> overrides;
  double peak_memory = -1;  // bytes allocated on a device; -1: not known
};

// The leading process: of those with the most steps, the one with the lowest number.
struct TrialRecord : TrialProcess {
  // All that made steps, the leading one too: by rank where ranks are known, else by number.
  std::vector<TrialProcess> processes;
};

// Errors as of any recording. A run without steps gives an empty record.
[[nodiscard]] base::Result<TrialRecord> read_trial(const std::string& path);

}  // namespace pyrometer::recording
