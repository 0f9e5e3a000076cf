// Which processes belong to a tree, and the CPU time of all that ever did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sources/procfs/proc_reader.h"
#include "sources/procfs/proc_stat.h"

namespace pyrometer::sources {

struct TreeMember {
  int pid = -1;
  ProcStat stat;  // as of the last update
  std::uint64_t inode = 0;
  bool is_new = false;      // joined with the last update
  bool is_renamed = false;  // another program since the update before (exec)
  std::uint64_t round = 0;  // of the last update that found it
};

// A process belongs to the tree when it is the root, a child of a member, in the session or process
// group that the root leads, or an orphan that the reaper took over. It stays a member for life.
// Per update: one pass over the names in /proc, one file for each member and for each process that
// was not there before; strangers are read once.
class ProcessTree {
 public:
  ProcessTree(ProcReader& files, int root_pid, int reaper_pid);

  // Errors: kNotFound where the root is not there and never was.
  [[nodiscard]] base::Result<void> find_root();
  // Errors: those of find_root(), kIo where /proc cannot be listed.
  [[nodiscard]] base::Result<void> update();

  [[nodiscard]] const std::map<int, TreeMember>& members() const { return members_; }
  // Members that the last update found gone.
  [[nodiscard]] const std::vector<TreeMember>& ended() const { return ended_; }
  // CPU time of all members, ended ones included, in clock ticks. Never falls.
  [[nodiscard]] std::uint64_t cpu_ticks() const { return cpu_ticks_; }
  [[nodiscard]] bool is_crowded() const { return crowded_; }  // members beyond the limit left out

 private:
  struct Candidate {
    int pid;
    std::uint64_t inode;
    ProcStat stat;
  };
  [[nodiscard]] base::Result<void> list_processes(std::vector<Candidate>& candidates);
  void look_at(int pid, std::uint64_t inode, std::vector<Candidate>& candidates);
  [[nodiscard]] std::optional<ProcStat> read_stat(int pid);
  [[nodiscard]] bool belongs(const Candidate& candidate) const;
  void admit(std::vector<Candidate>& candidates);
  void refresh_members();
  void add_up();

  ProcReader& files_;
  int root_pid_;
  int reaper_pid_;
  std::optional<ProcStat> root_;  // as first seen
  std::uint64_t round_ = 0;
  bool crowded_ = false;
  std::map<int, TreeMember> members_;
  std::vector<TreeMember> ended_;
  // Processes that do not belong: inode of their folder in /proc, which no later process with the
  // same id has, and the last update that saw them.
  std::unordered_map<int, std::pair<std::uint64_t, std::uint64_t>> strangers_;

  std::uint64_t children_grown_ = 0;  // in the last update, ticks
  std::uint64_t lost_ticks_ = 0;      // of ended members whose time no live one has taken over
  std::uint64_t cpu_ticks_ = 0;
};

}  // namespace pyrometer::sources
