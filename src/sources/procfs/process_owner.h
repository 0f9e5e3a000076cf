// Whose a process is: user, program, container, pod, Slurm job, recording.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sources/kube/pods.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {

struct ProcessOwner {
  static Value unknown() { return Value::missing(Absence::kNotAvailable); }
  Value user = unknown();       // name, or the number where nobody is called so
  Value program = unknown();    // without folder and arguments
  Value arguments = unknown();  // the whole command line; only where asked for
  Value container = unknown();  // id, 64 hexadecimal digits
  Value slurm_job = unknown();  // number
  // Kubernetes: the pod's number, its name and namespace, and what it calls the container.
  Value pod_uid = unknown();
  Value pod = unknown();
  Value pod_namespace = unknown();
  Value pod_container = unknown();
  Value recording = unknown();  // the process that records it, "pyrometer 4242"
  Value rank = unknown();       // where a source knows it
};

// From the path of a control group; empty where it tells none.
[[nodiscard]] std::string_view container_in(std::string_view cgroup_path);
[[nodiscard]] std::string_view slurm_job_in(std::string_view cgroup_path);
// With dashes: "3f2a…-…", or the 32 digits of a pod that no server knows of.
[[nodiscard]] std::string pod_uid_in(std::string_view cgroup_path);

// The rank of a recorded process, as its recording tells it; nothing where it tells none.
// `recorder`: process id of the recorder.
using RankLookup = std::function<std::optional<std::int32_t>(int recorder, int pid)>;

// Fills in the rank of an owner that is being recorded.
void add_rank(ProcessOwner& owner, int pid, const RankLookup& rank_of);

// Answers instead of /proc, for processes that no machine has; nothing for those it does not know.
using OwnerLookup = std::function<std::optional<ProcessOwner>(int pid, bool with_arguments)>;

// Reads world-readable files of /proc only, never another process's environment.
class ProcessOwners {
 public:
  // `root`: see SourceOptions. `same_namespace`: whether /proc there shows the ids asked for.
  ProcessOwners(const std::string& root, bool same_namespace, OwnerLookup made_up = {});

  // `device`: UUID of the GPU on which the process was seen; tells its pod where nothing else does.
  // `is_local`: the id is certainly one of this /proc, whatever the namespace.
  [[nodiscard]] ProcessOwner look_up(int pid, bool with_arguments, std::string_view device = {},
                                     bool is_local = false);

 private:
  [[nodiscard]] Value user_of(const std::string& folder);
  void read_command(const std::string& folder, bool with_arguments, ProcessOwner& owner);
  void read_groups(const std::string& folder, ProcessOwner& owner);
  void find_pod(std::string_view device, ProcessOwner& owner);
  void find_recording(int pid, ProcessOwner& owner);
  [[nodiscard]] const std::string& name_of_user(unsigned id);

  ProcReader files_;
  bool same_namespace_;
  OwnerLookup made_up_;  // empty: none is
  std::map<unsigned, std::string> users_;
  kube::Pods pods_;
  std::map<int, std::string> recorders_;  // by recorded process
  std::int64_t recorders_ns_ = 0;         // of the last look; 0: none yet
};

}  // namespace pyrometer::sources
