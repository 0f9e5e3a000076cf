// Sums over a recorded run, from its start to its end: what every report says of the whole run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/run.h"

namespace pyrometer::model {

// Time of the main thread in one kind of pause. Kinds overlap where one happens inside another,
// such as waiting for data within a validation.
struct HostTime {
  std::string_view kind;  // "checkpoint", …, "input_wait"
  std::int64_t count = -1;
  DurationNs total = 0;
  DurationNs longest = -1;  // −1, as of the count: not known
};

// The kinds, in the order in which reports list them.
inline constexpr std::array<std::string_view, 7> kHostTimeKinds = {
    "input_wait", "loader_start", "checkpoint", "validation", "compile", "gc", "logging"};

struct RunTotals {
  DurationNs wall = 0;
  std::int64_t steps = 0;  // that were marked
  DurationNs step_time = 0;
  bool used_device = false;             // some step ran on a GPU
  std::int64_t watched_steps = 0;       // of all: the GPU was watched from start to end
  DurationNs watched_time = 0;          // of step_time
  std::optional<double> samples_per_s;  // while steps ran
  std::optional<std::int64_t> samples;  // of all steps; absent where one's are not known
  Interval step_span;                   // first step's start to last step's end; empty without
  DurationNs input_wait = 0;            // within steps
  std::int64_t gpus = 0;                // on which steps were seen to run
  std::optional<DurationNs> before_first_step, after_last_step;
  std::array<std::optional<HostTime>, kHostTimeKinds.size()> host{};  // empty: none was seen
  CauseTimes causes{};                  // of watched steps, all devices
  std::optional<double> cost;           // of watching the GPU, of all step time, where measured
  std::optional<double> monitor_share;  // CPU time of the recorder's process, of one core
};

[[nodiscard]] RunTotals totals_of(const RecordedRun& run);

}  // namespace pyrometer::model
