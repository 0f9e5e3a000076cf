#include "sources/procfs/process_tree.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace pyrometer::sources {
namespace {

constexpr std::size_t kMostMembers = 4096;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

ProcessTree::ProcessTree(ProcReader& files, int root_pid, int reaper_pid)
    : files_(files), root_pid_(root_pid), reaper_pid_(reaper_pid) {}

std::optional<ProcStat> ProcessTree::read_stat(int pid) {
  const auto text = files_.read("/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_proc_stat(*text) : std::nullopt;
}

base::Result<void> ProcessTree::find_root() {
  if (!root_) root_ = read_stat(root_pid_);
  if (root_) return {};
  return base::fail({.kind = base::ErrorKind::kNotFound,
                     .message = "there is no process " + std::to_string(root_pid_),
                     .advice = "Ids inside and outside of a container differ"});
}

base::Result<void> ProcessTree::update() {
  ++round_;
  ended_.clear();
  children_grown_ = 0;
  if (auto found = find_root(); !found) return found;
  refresh_members();
  std::vector<Candidate> candidates;
  if (auto listed = list_processes(candidates); !listed) return listed;
  admit(candidates);
  add_up();
  return {};
}

// Members are read by their ids; whether /proc lists them does not matter.
void ProcessTree::refresh_members() {
  for (auto it = members_.begin(); it != members_.end();) {
    TreeMember& member = it->second;
    auto stat = read_stat(member.pid);
    if (!stat || stat->start != member.stat.start) {
      ended_.push_back(std::move(member));
      it = members_.erase(it);
      continue;
    }
    if (stat->children > member.stat.children) {
      children_grown_ += stat->children - member.stat.children;
    }
    member.is_new = false;
    member.is_renamed = stat->name != member.stat.name;
    member.stat = std::move(*stat);
    member.round = round_;
    ++it;
  }
}

base::Result<void> ProcessTree::list_processes(std::vector<Candidate>& candidates) {
  const std::string path = files_.root() + "/proc";
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (!folder) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "cannot list the processes",
                       .file = path,
                       .advice = "Mount /proc"});
  }
  while (const dirent* entry = readdir(folder.get())) {
    const auto pid = to_number(entry->d_name);
    if (!pid || *pid > 0x7fffffff) continue;
    look_at(static_cast<int>(*pid), entry->d_ino, candidates);
  }
  std::erase_if(strangers_, [&](const auto& item) { return item.second.second != round_; });
  return {};
}

void ProcessTree::look_at(int pid, std::uint64_t inode, std::vector<Candidate>& candidates) {
  if (members_.contains(pid)) return;
  if (const auto known = strangers_.find(pid);
      known != strangers_.end() && known->second.first == inode) {
    known->second.second = round_;
    return;
  }
  if (auto stat = read_stat(pid)) candidates.push_back({pid, inode, std::move(*stat)});
}

bool ProcessTree::belongs(const Candidate& candidate) const {
  const ProcStat& stat = candidate.stat;
  if (candidate.pid == root_pid_) return stat.start == root_->start;
  if (members_.contains(stat.parent)) return true;
  // Only where the root leads them: a shell's session holds strangers, too. What began before the
  // root has nothing to do with it, whatever its numbers.
  if (stat.start < root_->start) return false;
  if (root_->session == root_pid_ && stat.session == root_pid_) return true;
  if (root_->group == root_pid_ && stat.group == root_pid_) return true;
  return reaper_pid_ > 0 && stat.parent == reaper_pid_;
}

// A parent may come after its child in the list, so that it takes more than one pass.
void ProcessTree::admit(std::vector<Candidate>& candidates) {
  bool grew = true;
  while (grew && !candidates.empty()) {
    grew = false;
    std::erase_if(candidates, [&](Candidate& candidate) {
      if (!belongs(candidate)) return false;
      if (members_.size() >= kMostMembers) {
        crowded_ = true;
        return false;
      }
      members_.emplace(candidate.pid, TreeMember{.pid = candidate.pid,
                                                 .stat = std::move(candidate.stat),
                                                 .inode = candidate.inode,
                                                 .is_new = true,
                                                 .round = round_});
      return grew = true;
    });
  }
  for (const Candidate& stranger : candidates) {
    strangers_[stranger.pid] = {stranger.inode, round_};
  }
}

// When a process has ended and its parent has waited for it, the parent's counter of its children
// has the time. It gets lost when nobody waited (SIGCHLD ignored) or the one who did is no member:
// then it is kept here.
void ProcessTree::add_up() {
  std::uint64_t ended = 0;
  for (const TreeMember& member : ended_) ended += member.stat.all_time();
  if (ended > children_grown_) lost_ticks_ += ended - children_grown_;
  std::uint64_t sum = lost_ticks_;
  for (const auto& [pid, member] : members_) sum += member.stat.all_time();
  cpu_ticks_ = std::max(cpu_ticks_, sum);
}

}  // namespace pyrometer::sources
