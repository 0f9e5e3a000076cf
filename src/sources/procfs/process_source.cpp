#include "sources/procfs/process_source.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pyrometer::sources {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}};
constexpr std::size_t kFastGroup = 0;
// A round reads no more threads than this: half a million threads must not make it slow.
constexpr std::uint64_t kMostThreads = 2048;

std::string folder_of(const TreeMember& member) { return "/proc/" + std::to_string(member.pid); }

Subject subject_of(const TreeMember& member) {
  return {.scope = Scope::kProcess, .pid = member.pid};
}

// Growth of a sum over live processes: where it falls, one has ended whose count nobody took over.
double carried_sum(double sum, double& carried, double& last) {
  if (sum + carried < last) carried = last - sum;
  return last = sum + carried;
}

}  // namespace

ProcessSource::ProcessSource(std::string root, int root_pid, int reaper_pid)
    : files_(std::move(root)),
      tree_(files_, root_pid, reaper_pid),
      ns_per_tick_(1e9 / static_cast<double>(sysconf(_SC_CLK_TCK))),
      page_bytes_(static_cast<double>(sysconf(_SC_PAGESIZE))),
      delays_(DelayAccounting::kUnknown) {}

std::span<const Group> ProcessSource::groups() const { return kGroups; }

base::Result<void> ProcessSource::start() {
  // Linux 5.14 and newer: off unless asked for, and the count is then zero for ever.
  if (const auto on = files_.read_number("/proc/sys/kernel/task_delayacct")) {
    delays_ = *on != 0 ? DelayAccounting::kOn : DelayAccounting::kOff;
  }
  return tree_.find_root();
}

base::Result<void> ProcessSource::sample(std::size_t group, Batch& batch) {
  if (group == kFastGroup) {
    if (auto updated = tree_.update(); !updated) return updated;
    put_events(batch);
    const std::int64_t time = monotonic_ns();
    for (const auto& [pid, member] : tree_.members()) put_fast(member, time, batch);
    put_tree(batch);
    return {};
  }
  sums_ = {};
  threads_left_ = kMostThreads;
  for (const auto& [pid, member] : tree_.members()) put_slow(member, batch);
  put_tree_slow(batch);
  std::erase_if(waits_, [&](const auto& item) { return !tree_.members().contains(item.first); });
  return {};
}

void ProcessSource::put_events(Batch& batch) {
  const std::int64_t time = monotonic_ns();
  for (const TreeMember& member : tree_.ended()) {
    batch.tell(EventKind::kProcessEnded, subject_of(member), time, member.stat.name);
    waits_.erase(member.pid);
  }
  for (const auto& [pid, member] : tree_.members()) {
    if (member.is_new) {
      batch.tell(EventKind::kProcessStarted, subject_of(member), time, member.stat.name);
    }
    if (member.is_new || member.is_renamed) put_identity(member, batch);
  }
}

void ProcessSource::put_identity(const TreeMember& member, Batch& batch) {
  const std::int64_t time = monotonic_ns();
  const Subject subject = subject_of(member);
  batch.put(MetricId::kProcessName, subject, time, Value::text(member.stat.name));
  batch.put(MetricId::kProcessParent, subject, time, Value::number(member.stat.parent));
  batch.put(MetricId::kProcessStarted, subject, time,
            Value::number(static_cast<double>(member.stat.start) * ns_per_tick_));
}

Value ProcessSource::io_delay(const TreeMember& member) const {
  if (delays_ == DelayAccounting::kOff) {
    return Value::missing(Absence::kNotSupported,
                          "delay accounting is off (sysctl kernel.task_delayacct=1 turns it on)");
  }
  if (delays_ == DelayAccounting::kUnknown && member.stat.io_delay == 0) {
    return Value::missing(Absence::kNotAvailable, "none, or the kernel does not count it");
  }
  return Value::number(static_cast<double>(member.stat.io_delay) * ns_per_tick_);
}

void ProcessSource::put_fast(const TreeMember& member, std::int64_t time, Batch& batch) {
  const ProcStat& stat = member.stat;
  const Subject subject = subject_of(member);
  const auto put = [&](MetricId metric, double number) {
    batch.put(metric, subject, time, Value::number(number));
  };
  batch.put(MetricId::kProcessState, subject, time, Value::text(std::string(1, stat.state)));
  put(MetricId::kProcessCpuUser, static_cast<double>(stat.user) * ns_per_tick_);
  put(MetricId::kProcessCpuSystem, static_cast<double>(stat.system) * ns_per_tick_);
  put(MetricId::kProcessFaultsMinor, static_cast<double>(stat.faults_minor));
  put(MetricId::kProcessFaultsMajor, static_cast<double>(stat.faults_major));
  batch.put(MetricId::kProcessIoDelay, subject, time, io_delay(member));
  if (stat.has_ended()) return;
  put(MetricId::kProcessThreads, static_cast<double>(stat.threads));
  put(MetricId::kProcessResident, static_cast<double>(stat.resident_pages) * page_bytes_);
  if (stat.last_cpu >= 0) put(MetricId::kProcessLastCpu, stat.last_cpu);
  const auto text = files_.read(folder_of(member) + "/schedstat");
  batch.put(MetricId::kProcessRunWait, subject, monotonic_ns(),
            text ? number_or(parse_run_wait(*text), Absence::kNotSupported,
                             "the kernel does not count it")
                 : Value::missing(files_.gap().absence, files_.gap().text));
}

void ProcessSource::put_slow(const TreeMember& member, Batch& batch) {
  if (member.stat.has_ended()) return;
  put_io(member, batch);
  put_memory(member, batch);
  put_status(member, batch);
  put_thread_waits(member, batch);
}

void ProcessSource::put_io(const TreeMember& member, Batch& batch) {
  struct Line {
    std::string_view key;
    MetricId metric;
    double* sum;
  };
  const Line lines[] = {{"rchar:", MetricId::kProcessReadChars, nullptr},
                        {"wchar:", MetricId::kProcessWriteChars, nullptr},
                        {"read_bytes:", MetricId::kProcessRead, &sums_.read},
                        {"write_bytes:", MetricId::kProcessWritten, &sums_.written}};
  const Subject subject = subject_of(member);
  auto text = files_.read(folder_of(member) + "/io");
  const std::int64_t time = monotonic_ns();
  if (!text) {
    const Gap gap = files_.gap();
    for (const Line& line : lines) {
      batch.put(line.metric, subject, time, Value::missing(gap.absence, gap.text));
    }
    return;
  }
  while (!text->empty()) {
    std::string_view rest = take_line(*text);
    const std::string_view key = take_word(rest);
    for (const Line& line : lines) {
      if (key != line.key) continue;
      const auto bytes = take_number(rest);
      if (!bytes) break;
      batch.put(line.metric, subject, time, Value::number(static_cast<double>(*bytes)));
      if (line.sum != nullptr) *line.sum += static_cast<double>(*bytes);
      sums_.io_known = true;
    }
  }
}

void ProcessSource::put_memory(const TreeMember& member, Batch& batch) {
  auto text = files_.read(folder_of(member) + "/statm");
  std::string_view rest = text ? trim(*text) : std::string_view();
  static_cast<void>(take_number(rest));  // size
  const auto resident = take_number(rest);
  const auto shared = take_number(rest);
  if (!resident || !shared || *shared > *resident) {
    batch.put(MetricId::kProcessResidentPrivate, subject_of(member), monotonic_ns(),
              Value::missing(Absence::kNotAvailable));
    return;
  }
  const double own = static_cast<double>(*resident - *shared) * page_bytes_;
  batch.put(MetricId::kProcessResidentPrivate, subject_of(member), monotonic_ns(),
            Value::number(own));
  sums_.memory_known = true;
  sums_.resident_private += own;
  sums_.shared_most = std::max(sums_.shared_most, static_cast<double>(*shared) * page_bytes_);
}

void ProcessSource::put_status(const TreeMember& member, Batch& batch) {
  const Subject subject = subject_of(member);
  auto text = files_.read(folder_of(member) + "/status");
  const std::int64_t time = monotonic_ns();
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    const std::string_view key = take_word(line);
    const auto put = [&](MetricId metric, double scale) {
      if (const auto number = take_number(line)) {
        batch.put(metric, subject, time, Value::number(static_cast<double>(*number) * scale));
      }
    };
    if (key == "VmSwap:") {
      put(MetricId::kProcessSwapped, 1024);
    } else if (key == "voluntary_ctxt_switches:") {
      put(MetricId::kProcessSwitchesVoluntary, 1);
    } else if (key == "nonvoluntary_ctxt_switches:") {
      put(MetricId::kProcessSwitchesInvoluntary, 1);
    } else if (key == "Cpus_allowed_list:") {
      batch.put(MetricId::kProcessCpusAllowed, subject, time,
                number_or(count_list(line), Absence::kFailed));
    }
  }
}

void ProcessSource::put_thread_waits(const TreeMember& member, Batch& batch) {
  const Subject subject = subject_of(member);
  if (member.stat.threads > threads_left_) {
    batch.put(MetricId::kProcessThreadsRunWait, subject, monotonic_ns(),
              Value::missing(Absence::kNotAvailable, "too many threads to read them all"));
    return;
  }
  threads_left_ -= member.stat.threads;
  const std::string folder = folder_of(member) + "/task/";
  DIR* threads = opendir((files_.root() + folder).c_str());
  if (threads == nullptr) return;  // it has just ended
  ThreadWaits& waits = waits_[member.pid];
  std::unordered_map<int, std::uint64_t> seen;
  while (const dirent* entry = readdir(threads)) {
    const auto thread = to_number(entry->d_name);
    if (!thread) continue;
    const auto text = files_.read(folder + entry->d_name + "/schedstat");
    const auto wait = text ? parse_run_wait(*text) : std::nullopt;
    if (!wait) continue;
    const auto before = waits.last.find(static_cast<int>(*thread));
    const std::uint64_t last = before == waits.last.end() ? 0 : before->second;
    // A smaller count belongs to a new thread with an old number.
    waits.sum += *wait >= last ? *wait - last : *wait;
    seen.emplace(static_cast<int>(*thread), *wait);
  }
  closedir(threads);
  const bool known = !seen.empty();
  waits.last = std::move(seen);
  batch.put(MetricId::kProcessThreadsRunWait, subject, monotonic_ns(),
            known ? Value::number(static_cast<double>(waits.sum))
                  : Value::missing(Absence::kNotSupported, "the kernel does not count it"));
}

void ProcessSource::put_tree(Batch& batch) {
  const Subject tree{.scope = Scope::kTree};
  const std::int64_t time = monotonic_ns();
  double alive = 0;
  double threads = 0;
  for (const auto& [pid, member] : tree_.members()) {
    if (member.stat.has_ended()) continue;
    alive += 1;
    threads += static_cast<double>(member.stat.threads);
  }
  batch.put(MetricId::kTreeProcesses, tree, time, Value::number(alive));
  batch.put(MetricId::kTreeThreads, tree, time, Value::number(threads));
  batch.put(MetricId::kTreeCpu, tree, time,
            Value::number(static_cast<double>(tree_.cpu_ticks()) * ns_per_tick_));
}

void ProcessSource::put_tree_slow(Batch& batch) {
  const Subject tree{.scope = Scope::kTree};
  const std::int64_t time = monotonic_ns();
  const auto put = [&](MetricId metric, bool known, double number) {
    batch.put(metric, tree, time,
              known ? Value::number(number)
                    : Value::missing(Absence::kNotAvailable, "no process could be read"));
  };
  put(MetricId::kTreeResident, sums_.memory_known, sums_.resident_private + sums_.shared_most);
  const bool io_known = sums_.io_known || read_last_ + written_last_ > 0;
  put(MetricId::kTreeRead, io_known, carried_sum(sums_.read, read_carried_, read_last_));
  put(MetricId::kTreeWritten, io_known,
      carried_sum(sums_.written, written_carried_, written_last_));
}

}  // namespace pyrometer::sources
