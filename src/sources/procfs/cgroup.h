// Limits and use of a process's control group, versions 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/procfs/proc_reader.h"
#include "sources/source.h"

namespace pyrometer::sources {

// Where the files of one controller lie. With version 2 all controllers share one place.
struct CgroupPlace {
  std::string mount;  // mount point, without the root of the reader
  std::string path;   // of the group below it: "" for the mount itself, else "/a/b"
};

class CgroupReader {
 public:
  // `pid`: whose group; -1: this process's.
  CgroupReader(std::string root, int pid);

  // Finds the group (it may change) and reads what limits it: also the limits of its ancestors as
  // far as they are visible, the tightest of which counts.
  void sample_limits(Batch& batch);
  // Reads what it used. After sample_limits().
  void sample_usage(Batch& batch);

 private:
  void find_group();
  void find_mounts();
  [[nodiscard]] std::optional<std::uint64_t> read_key(const std::string& path,
                                                      std::string_view key);
  [[nodiscard]] std::optional<double> quota_at(const std::string& folder);
  void put_cpu_limits(Batch& batch);
  void put_memory_limits(Batch& batch);
  [[nodiscard]] std::optional<std::uint64_t> memory_at(const std::string& folder,
                                                       std::string_view file);
  void put_cpu_usage(Batch& batch);
  void put_memory_usage(Batch& batch);

  ProcReader files_;
  std::string who_;  // "/proc/self" or "/proc/<pid>"
  int version_ = 0;  // 0: not found
  CgroupPlace cpu_;  // version 1 has one place for each of them
  CgroupPlace memory_;
  CgroupPlace cpuset_;
  CgroupPlace pids_;
  CgroupPlace cpuacct_;
  std::string quota_folder_;  // of the tightest quota; of the group itself where there is none
};

}  // namespace pyrometer::sources
