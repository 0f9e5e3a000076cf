// Whose a process is: user, program, container, Slurm job.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {

struct ProcessOwner {
  static Value unknown() { return Value::missing(Absence::kNotAvailable); }
  Value user = unknown();       // name, or the number where nobody is called so
  Value program = unknown();    // without folder and arguments
  Value arguments = unknown();  // the whole command line; only where asked for
  Value container = unknown();  // id, 64 hexadecimal digits
  Value slurm_job = unknown();  // number
};

// From the path of a control group; empty where it tells none.
[[nodiscard]] std::string_view container_in(std::string_view cgroup_path);
[[nodiscard]] std::string_view slurm_job_in(std::string_view cgroup_path);

// Reads world-readable files of /proc only, never another process's environment.
class ProcessOwners {
 public:
  // `root`: see SourceOptions. `same_namespace`: whether /proc there shows the ids asked for.
  ProcessOwners(const std::string& root, bool same_namespace);

  [[nodiscard]] ProcessOwner look_up(int pid, bool with_arguments);

 private:
  [[nodiscard]] Value user_of(const std::string& folder);
  void read_command(const std::string& folder, bool with_arguments, ProcessOwner& owner);
  void read_groups(const std::string& folder, ProcessOwner& owner);
  [[nodiscard]] const std::string& name_of_user(unsigned id);

  ProcReader files_;
  bool same_namespace_;
  std::map<unsigned, std::string> users_;
};

}  // namespace pyrometer::sources
