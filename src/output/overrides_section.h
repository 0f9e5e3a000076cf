// What a run was asked to change of the training, and how that fared.
#pragma once

#include <string_view>
#include <vector>

#include "model/run.h"
#include "output/sections.h"

namespace pyrometer::output {

struct OverrideWord {
  std::string_view id;     // "loader.workers"
  std::string_view state;  // "applied", "waiting" or "cannot"
  std::string_view text;   // what the process said after that
};

// As the process said it, by id; empty where nothing was asked for.
[[nodiscard]] std::vector<OverrideWord> overrides_of(const model::RecordedRun& run);

// Of all ranks; empty where nothing was asked for.
[[nodiscard]] Section overrides_section(const Report& report);

}  // namespace pyrometer::output
