// Money, energy and efficiency of a whole recorded run.
#pragma once

#include "output/sections.h"

namespace pyrometer::output {

// Empty for traces.
[[nodiscard]] Section economy_section(const Report& report);

}  // namespace pyrometer::output
