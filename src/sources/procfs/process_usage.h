// What processes use of the host: CPU, memory, how long they have run, who started them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {

struct ProcessUsage {
  int parent = 0;
  std::uint64_t start_ticks = 0;  // since boot: with the pid it names a process for good
  bool has_ended = false;         // only its parent still has to take note
  Value cpu = Value::missing(Absence::kNotYet);  // share of one CPU since the look before
  Value resident = Value::missing(Absence::kNotAvailable);  // bytes
  Value running = Value::missing(Absence::kNotAvailable);   // seconds since it was started
};

// Not thread-safe.
class ProcessUsages {
 public:
  explicit ProcessUsages(const std::string& root);  // see SourceOptions

  // Of those that are there, and of what started them, up to the first process. One small file for
  // each. Ask for ids of this /proc alone. CPU shares need two looks; the second is best not sooner
  // than half a second later.
  [[nodiscard]] std::map<int, ProcessUsage> look(std::span<const int> pids);

 private:
  struct Before {
    std::uint64_t start_ticks = 0;
    std::uint64_t cpu_ticks = 0;
    std::int64_t time_ns = 0;
  };
  [[nodiscard]] bool read_one(int pid, double uptime, std::map<int, ProcessUsage>& found,
                              std::map<int, Before>& now);

  ProcReader files_;
  std::map<int, Before> before_;
};

// The start of the process in ticks since boot, 0 where it is not there.
[[nodiscard]] std::uint64_t start_ticks_of(int pid);

}  // namespace pyrometer::sources
