// How the monitor's process uses malloc.
#pragma once

namespace pyrometer::monitor {

// Twice a second the monitor builds tables of some megabytes and drops them. Handed back to the
// kernel each time and faulted in again, they cost a third of its processor time (measured with
// bench/monitor/recorder_bench: 1.7% of a core against 1.1%); so freed memory is kept.
void keep_freed_memory();

}  // namespace pyrometer::monitor
