#include "sources/procfs/process_owner.h"

#include <dirent.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "sources/source.h"

namespace pyrometer::sources {
namespace {

constexpr std::size_t kContainerIdLength = 64;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void name_pod(const kube::Pod& pod, ProcessOwner& owner) {
  owner.pod = Value::text(pod.name);
  owner.pod_namespace = Value::text(pod.name_space);
  owner.pod_container = Value::text(pod.container);
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// The part of a name up to the next dash, as a number.
std::optional<std::uint64_t> take_part(std::string_view& name) {
  const std::size_t dash = name.find('-');
  const auto number = to_number(name.substr(0, dash));
  name.remove_prefix(dash == std::string_view::npos ? name.size() : dash + 1);
  return number;
}

// Adds the processes that have rings in folders of `parent`, with their recorders' ids.
void find_rings(const std::string& parent, std::map<int, std::string>& recorders) {
  constexpr std::string_view kPrefix = "pyrometer-";
  const Folder folders(opendir(parent.c_str()));
  while (const dirent* entry = folders == nullptr ? nullptr : readdir(folders.get())) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    name.remove_prefix(kPrefix.size());
    const auto user = take_part(name);
    const auto recorder = take_part(name);
    if (!user || !recorder) continue;
    const Folder rings(opendir((parent + "/" + entry->d_name).c_str()));
    while (const dirent* ring = rings == nullptr ? nullptr : readdir(rings.get())) {
      std::string_view file = ring->d_name;
      if (!file.ends_with(".ring")) continue;
      const auto pid = take_part(file);
      if (pid && *pid <= 0x7FFFFFFF) {
        recorders[static_cast<int>(*pid)] = std::to_string(*recorder);
      }
    }
  }
}

Value not_visible(const ProcReader& files) {
  const Absence why = files.gap().absence == Absence::kNoPermission ? Absence::kNoPermission
                                                                    : Absence::kNotAvailable;
  return Value::missing(why, "/proc does not show the process");
}

}  // namespace

std::string_view container_in(std::string_view path) {
  // docker-<id>.scope, /docker/<id>, cri-containerd-<id>.scope, crio-<id>.scope, libpod-<id>.scope:
  // what they have in common is the id. The innermost counts.
  std::string_view found;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(path.begin() + static_cast<std::ptrdiff_t>(at), path.end(), is_hex) -
        path.begin());
    if (end - at == kContainerIdLength) found = path.substr(at, end - at);
    at = end + 1;
  }
  return found;
}

std::string_view slurm_job_in(std::string_view path) {
  // /slurm/uid_1000/job_42/step_0 and …/slurmstepd.scope/job_42/step_0
  const std::size_t slurm = path.find("slurm");
  if (slurm == std::string_view::npos) return {};
  constexpr std::string_view kJob = "/job_";
  const std::size_t job = path.find(kJob, slurm);
  if (job == std::string_view::npos) return {};
  const std::string_view rest = path.substr(job + kJob.size());
  const auto* const end = std::ranges::find_if_not(rest, is_digit);
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

std::string pod_uid_in(std::string_view path) {
  // /kubepods/burstable/pod<uid>/<id> by the cgroupfs driver, and
  // kubepods-burstable-pod<uid, with underscores>.slice/cri-containerd-<id>.scope by systemd's.
  constexpr std::string_view kPods = "kubepods";
  constexpr std::string_view kPod = "pod";
  constexpr std::size_t kLength = 36;
  constexpr std::size_t kStaticLength = 32;
  std::size_t at = path.find(kPods);
  if (at == std::string_view::npos) return {};
  at += kPods.size();
  while ((at = path.find(kPod, at)) != std::string_view::npos) {
    const char before = path[at - 1];
    at += kPod.size();
    if (before != '/' && before != '-') continue;
    const std::string_view rest = path.substr(at);
    const auto* const end =
        std::ranges::find_if_not(rest, [](char c) { return is_hex(c) || c == '-' || c == '_'; });
    const auto size = static_cast<std::size_t>(end - rest.begin());
    if (size != kLength && size != kStaticLength) continue;
    std::string uid(rest.substr(0, size));
    std::ranges::replace(uid, '_', '-');
    return uid;
  }
  return {};
}

ProcessOwners::ProcessOwners(const std::string& root, bool same_namespace, OwnerLookup made_up)
    : files_(root), same_namespace_(same_namespace), made_up_(std::move(made_up)), pods_(root) {}

ProcessOwner ProcessOwners::look_up(int pid, bool with_arguments, std::string_view device,
                                    bool is_local) {
  if (made_up_ != nullptr) {
    if (auto owner = made_up_(pid, with_arguments)) return *std::move(owner);
  }
  ProcessOwner owner;
  if (!same_namespace_ && !is_local) {
    const Value elsewhere = Value::missing(Absence::kOtherNamespace, "the id is that of the host");
    for (Value* value : {&owner.user, &owner.program, &owner.arguments, &owner.container,
                         &owner.slurm_job, &owner.pod_uid, &owner.pod, &owner.pod_namespace,
                         &owner.pod_container, &owner.recording, &owner.rank}) {
      *value = elsewhere;
    }
    // Of the GPU's pod the kubelet tells all the same.
    Gap why;
    if (const kube::Pod* pod = device.empty() ? nullptr : pods_.of_device(device, why)) {
      name_pod(*pod, owner);
    }
    return owner;
  }
  const std::string folder = "/proc/" + std::to_string(pid);
  owner.user = user_of(folder);
  read_command(folder, with_arguments, owner);
  read_groups(folder, owner);
  find_pod(device, owner);
  find_recording(pid, owner);
  return owner;
}

void add_rank(ProcessOwner& owner, int pid, const RankLookup& rank_of) {
  const std::string* const recorder = owner.recording.text();
  if (recorder == nullptr || !rank_of || owner.rank.number() != nullptr) return;
  const auto number = to_number(std::string_view(*recorder).substr(recorder->rfind(' ') + 1));
  if (!number) return;
  const auto rank = rank_of(static_cast<int>(*number), pid);
  owner.rank = rank ? Value::number(*rank)
                    : Value::missing(Absence::kNotAvailable, "its recording tells no rank");
}

void ProcessOwners::find_pod(std::string_view device, ProcessOwner& owner) {
  if (owner.pod_uid.is_missing()) {
    owner.pod = owner.pod_namespace = owner.pod_container = owner.pod_uid;
    return;
  }
  const std::string* container = owner.container.text();
  const kube::Pod* pod = container == nullptr ? nullptr : pods_.of_container(*container);
  Gap why{Absence::kNotAvailable, "no log is named after its container"};
  if (pod == nullptr && !device.empty()) pod = pods_.of_device(device, why);
  if (pod != nullptr) return name_pod(*pod, owner);
  owner.pod = owner.pod_namespace = owner.pod_container = Value::missing(why.absence, why.text);
}

// A recorded process has a ring "<pid>-<start>.ring" in its recorder's folder in shared memory,
// "pyrometer-<user>-<pid of the recorder>-<start>", which only that user and root may look into.
void ProcessOwners::find_recording(int pid, ProcessOwner& owner) {
  constexpr std::int64_t kLookAgain = 1'000'000'000;
  const std::int64_t now = monotonic_ns();
  if (recorders_ns_ == 0 || now - recorders_ns_ >= kLookAgain) {
    recorders_ns_ = now;
    recorders_.clear();
    for (const char* parent : {"/dev/shm", "/tmp"}) find_rings(files_.root() + parent, recorders_);
  }
  const auto found = recorders_.find(pid);
  if (found == recorders_.end()) {
    owner.recording = Value::missing(Absence::kNotApplicable, "no recording of this user's has it");
    owner.rank = Value::missing(Absence::kNotApplicable, "it is not being recorded");
    return;
  }
  owner.recording = Value::text("pyrometer " + found->second);
  owner.rank = Value::missing(Absence::kNotAvailable, "the recording tells it");
}

Value ProcessOwners::user_of(const std::string& folder) {
  auto status = files_.read(folder + "/status");
  if (!status) return not_visible(files_);
  while (!status->empty()) {
    std::string_view line = take_line(*status);
    if (!line.starts_with("Uid:")) continue;
    static_cast<void>(take_word(line));
    const auto id = take_number(line);
    if (id) return Value::text(name_of_user(static_cast<unsigned>(*id)));
  }
  return Value::missing(Absence::kNotAvailable, "the process has ended");
}

// /etc/passwd first: asking a directory service can take long, and below another root its answer
// would be that of this machine.
const std::string& ProcessOwners::name_of_user(unsigned id) {
  const auto known = users_.find(id);
  if (known != users_.end()) return known->second;
  std::string& name = users_[id];
  auto table = files_.read("/etc/passwd");
  while (table && !table->empty() && name.empty()) {
    const std::string_view line = take_line(*table);
    const std::size_t password = line.find(':');
    const std::size_t number = line.find(':', password + 1);
    if (password == std::string_view::npos || number == std::string_view::npos) continue;
    const std::string_view digits =
        line.substr(number + 1, line.find(':', number + 1) - number - 1);
    if (to_number(digits) == id) name = std::string(line.substr(0, password));
  }
  if (name.empty() && files_.root().empty()) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4096> buffer{};
    if (getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
      name = entry.pw_name;
    }
  }
  if (name.empty()) name = std::to_string(id);
  return name;
}

// The command line rather than comm, which is the name of the main thread: of a training that is
// "pt_main_thread".
void ProcessOwners::read_command(const std::string& folder, bool with_arguments,
                                 ProcessOwner& owner) {
  const auto command = files_.read(folder + "/cmdline");
  const bool is_named = command && !command->empty() && command->front() != '\0';
  if (is_named) {
    // Programs that change their title write all of it into the first argument.
    std::string_view first = command->substr(0, command->find_first_of(std::string_view("\0 ", 2)));
    first.remove_prefix(std::min(first.size(), first.rfind('/') + 1));
    if (!first.empty()) owner.program = Value::text(std::string(first));
  }
  if (with_arguments && is_named) {
    std::string whole(*command);
    while (whole.ends_with('\0')) whole.pop_back();
    std::ranges::replace(whole, '\0', ' ');
    owner.arguments = Value::text(std::move(whole));
  } else {
    owner.arguments = with_arguments ? Value::missing(Absence::kNotAvailable)
                                     : Value::missing(Absence::kNotApplicable, "not asked for");
  }
  if (!owner.program.is_missing()) return;
  const auto name = files_.read(folder + "/comm");
  owner.program = name ? Value::text(std::string(trim(*name))) : not_visible(files_);
}

void ProcessOwners::read_groups(const std::string& folder, ProcessOwner& owner) {
  auto groups = files_.read(folder + "/cgroup");
  if (!groups) {
    owner.container = owner.slurm_job = owner.pod_uid = not_visible(files_);
    return;
  }
  owner.container = Value::missing(Absence::kNotApplicable, "its control group names no container");
  owner.slurm_job = Value::missing(Absence::kNotApplicable, "its control group names no Slurm job");
  owner.pod_uid = Value::missing(Absence::kNotApplicable, "its control group names no pod");
  while (!groups->empty()) {
    const std::string_view path = take_line(*groups);
    if (std::string uid = pod_uid_in(path); !uid.empty()) owner.pod_uid = Value::text(uid);
    const std::string_view container = container_in(path);
    const std::string_view job = slurm_job_in(path);
    if (!container.empty()) owner.container = Value::text(std::string(container));
    if (!job.empty()) owner.slurm_job = Value::text(std::string(job));
  }
}

}  // namespace pyrometer::sources
