// What a recording tells of the run around the kept steps.
#pragma once

#include "output/sections.h"

namespace pyrometer::output {

// Start-up, steps, pauses and the recorder's own cost, of the rank that tables about one rank show;
// empty for traces.
[[nodiscard]] Section run_section(const Report& report);

// The causes over every watched step of the run; empty for traces and where no GPU was watched.
[[nodiscard]] Section run_waterfall_section(const Report& report);

// The lines of the program in which its training thread was sampled; empty for traces and for runs
// without samples.
[[nodiscard]] Section host_lines_section(const Report& report);

// The calls, by line, that made the host wait for the device; empty where none was named.
[[nodiscard]] Section blocking_lines_section(const Report& report);

}  // namespace pyrometer::output
