// The files of one process: /proc/<pid>/stat and its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {

// Of /proc/<pid>/stat (proc(5)); times in clock ticks.
struct ProcStat {
  std::string name;  // comm: 15 bytes at most, whatever the program put there
  char state = '?';
  int parent = 0;
  int group = 0;
  int session = 0;
  std::uint64_t faults_minor = 0;
  std::uint64_t faults_major = 0;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t children = 0;  // user and system time of children that were waited for
  std::uint64_t threads = 0;
  std::uint64_t start = 0;  // since boot: tells processes apart that had the same id
  std::uint64_t resident_pages = 0;
  int last_cpu = -1;
  std::uint64_t io_delay = 0;  // main thread

  [[nodiscard]] bool has_ended() const { return state == 'Z' || state == 'X'; }
  // All CPU time that the kernel knows of here.
  [[nodiscard]] std::uint64_t all_time() const { return user + system + children; }
};

// Nothing where the text is not a stat line. The name may hold blanks and parentheses.
[[nodiscard]] std::optional<ProcStat> parse_proc_stat(std::string_view text);

// Time that a thread was ready and had no CPU, in nanoseconds, from a schedstat file's text.
// Nothing where the kernel keeps no such count (it then writes zeros).
[[nodiscard]] std::optional<std::uint64_t> parse_run_wait(std::string_view text);

}  // namespace pyrometer::sources
