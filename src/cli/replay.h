// --replay: the GPUs, processes and steps of a recording in place of this machine's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "sources/replay/recorded_source.h"
#include "sources/stand_in.h"

namespace pyrometer::cli {

struct ReplayChoice {
  std::string file;              // empty: nothing is played
  std::optional<double> from_s;  // after the first reading of a GPU
  double speed = 1;

  // What is wrong about the options together; empty: nothing.
  [[nodiscard]] std::string conflict(bool has_other_stand_in) const;
};

// --replay FILE, --replay-from TIME, --replay-speed FACTOR.
[[nodiscard]] std::vector<Option> replay_options(ReplayChoice& choice);

struct Replay {
  std::string file;
  std::shared_ptr<const sources::StandIn> stand_in;
  std::shared_ptr<sources::replay::PlayedTime> played;
};

// Without `from_s`: from the beginning, or, `at_end`, the last that was recorded. Errors: those of
// the recording, kEmpty where it holds no readings of a GPU, kUsage for a beginning after its end.
[[nodiscard]] base::Result<Replay> open_replay(const ReplayChoice& choice, bool at_end);

}  // namespace pyrometer::cli
