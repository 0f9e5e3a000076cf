// What a search is to do, as given on the command line and as kept with its results.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/command_template.h"
#include "tune/objective.h"
#include "tune/space.h"

namespace pyrometer::cli {

// In the words of the user.
struct TuneWords {
  std::vector<std::string> command;
  std::string space;
  std::string first;                // --first; empty: the values written first
  std::string objective;            // empty: not given
  std::string samples;              // --samples-per-step
  std::vector<std::string> memory;  // --memory-grows-with
  std::optional<double> target_loss;
  int trials = 0;  // 0: no limit
  int seed = 1;
  double seconds = 0;  // of a trial; 0: by the budget
  friend bool operator==(const TuneWords&, const TuneWords&) = default;
};

// Understood.
struct TunePlan {
  tune::Space space;
  tune::CommandTemplate command;
  tune::Point first;
  tune::Objective objective = tune::Objective::kSamplesPerSecond;
  bool steps_will_do = false;  // see TuneOptions
  std::optional<tune::SampleCount> samples;
  std::vector<bool> grows_memory;  // by dimension
  std::vector<std::string> notes;  // what the user should know of it
};

// Errors: kUsage.
[[nodiscard]] base::Result<TunePlan> make_plan(const TuneWords& words);

// The words as settings of a file of results, and back. Error kFormat: they are not all there.
[[nodiscard]] std::map<std::string, std::string> settings_of(const TuneWords& words);
[[nodiscard]] base::Result<TuneWords> words_of(const std::map<std::string, std::string>& settings,
                                               const std::string& file);

}  // namespace pyrometer::cli
