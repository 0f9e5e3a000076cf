// Which lines of a program its training thread was in, by the hook's stack samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"

namespace pyrometer::model {

struct HostLine {
  std::string phase;  // "input", "forward", "backward", "optimizer", "checkpoint", … or "host"
  std::string line;   // "train.py:58 step": the innermost line of the user's own code
  std::string innermost;  // the innermost line of all, such as "torch/nn/modules/linear.py:114 …"
  std::int64_t samples = 0;
  double share = 0;  // of all samples of the run
};

// Why a run has none; empty where it has some.
[[nodiscard]] std::string why_no_host_lines(const RecordedRun& run);

// By phase and user's line, most samples first; `innermost` is the most frequent one of each. Empty
// for runs without samples.
[[nodiscard]] std::vector<HostLine> host_lines_of(const RecordedRun& run);

}  // namespace pyrometer::model
