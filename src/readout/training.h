// A training that is being recorded, as screens show it beside its process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "model/generated/causes.h"

namespace pyrometer::readout {

struct Training {
  std::string file;  // the recording
  std::int32_t rank = -1;
  std::int64_t steps = 0;
  std::optional<double> step_ns;
  std::optional<double> samples_per_second;
  struct Share {
    std::string_view cause;  // title
    model::CauseGroup group = model::CauseGroup::kCompute;
    double share = 0;
  };
  std::vector<Share> shares;  // of the latest steps' time, largest first; empty: not watched
  std::string finding;        // title of the first one; empty: none, or not judged yet
  model::Severity severity = model::Severity::kInfo;
};

// By process id.
using Trainings = std::map<std::int32_t, Training>;

}  // namespace pyrometer::readout
