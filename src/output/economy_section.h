// Money, energy and efficiency of a whole recorded run.
#pragma once

#include "output/sections.h"

namespace pyrometer::output {

// Empty for traces, unless FLOPs were given: then it says what is missing besides.
[[nodiscard]] Section economy_section(const Report& report);

}  // namespace pyrometer::output
