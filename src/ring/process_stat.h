// What /proc/<pid>/stat says of a process's identity. No allocation, no exception: the recorded
// process uses it too.
#pragma once

#include <cstdint>

namespace pyrometer::ring {

struct ProcessStat {
  char state = '?';               // field 3
  std::uint32_t threads = 0;      // field 20
  std::uint64_t start_ticks = 0;  // field 22: with the pid it names a process for good
};

// False where there is no such process, or /proc hides it. pid 0: the calling process.
bool read_process_stat(std::uint32_t pid, ProcessStat* stat);

// Whether the process that started at `start_ticks` has ended, as far as /proc shows.
bool process_ended(std::uint32_t pid, std::uint64_t start_ticks);

}  // namespace pyrometer::ring
