#include "tui/process_list.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pyrometer::tui {
namespace {

using readout::Value;
using sources::ProcessOwner;

constexpr std::size_t kShownOfId = 12;  // as docker ps does

const ProcessOwner* owner_of(const ProcessRow& row) {
  if (row.process != nullptr) return &row.process->owner;
  return row.host != nullptr ? &row.host->owner : nullptr;
}

std::string text_or_empty(const Value& value) {
  return value.text() != nullptr ? *value.text() : std::string();
}

std::optional<double> number(const Value& value) {
  return value.number() != nullptr ? std::optional(*value.number()) : std::nullopt;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool matches(const ProcessRow& row, const std::string& wanted) {
  if (wanted.empty()) return true;
  const auto has = [&](const std::string& text) {
    return lower(text).find(wanted) != std::string::npos;
  };
  return has(user_of(row)) || has(program_of(row)) || has(std::to_string(row.id.pid)) ||
         has(place_of(row)) || (row.training != nullptr && has(row.training->file));
}

ProcessRow row_of(const Sight& sight, int pid) {
  ProcessRow row{.id = {.pid = pid}};
  if (const auto found = sight.host->find(pid); found != sight.host->end()) {
    row.host = &found->second;
  }
  if (const auto found = sight.trainings->find(pid); found != sight.trainings->end()) {
    row.training = &found->second;
  }
  return row;
}

// Missing values come last, whichever way it goes.
template <typename T>
int compare(const std::optional<T>& a, const std::optional<T>& b, bool descending) {
  if (a.has_value() != b.has_value()) return a ? -1 : 1;
  if (!a || *a == *b) return 0;
  return (*a < *b) != descending ? -1 : 1;
}

int compare(const std::string& a, const std::string& b, bool descending) {
  if (a.empty() != b.empty()) return a.empty() ? 1 : -1;
  return descending ? b.compare(a) : a.compare(b);
}

struct Keyed {
  std::optional<double> number;
  std::string text;
  std::size_t place = 0;  // in the order of GPUs
};

Keyed key_of(const ProcessRow& row, SortKey sort, std::size_t place) {
  Keyed key{.place = place};
  switch (sort) {
    case SortKey::kGpu:
      break;
    case SortKey::kPid:
      key.number = row.id.pid;
      break;
    case SortKey::kUser:
      key.text = user_of(row);
      break;
    case SortKey::kMemory:
      key.number = gpu_memory_of(row);
      break;
    case SortKey::kSm:
      key.number = sm_share_of(row);
      break;
    case SortKey::kCpu:
      key.number = cpu_share_of(row);
      break;
    case SortKey::kHostMemory:
      key.number = host_memory_of(row);
      break;
    case SortKey::kTime:
      key.number = running_of(row);
      break;
    case SortKey::kProgram:
      key.text = program_of(row);
      break;
  }
  return key;
}

void sort_rows(std::vector<ProcessRow>& rows, const Ui& ui) {
  if (ui.sort == SortKey::kGpu) {
    if (ui.descending) std::ranges::reverse(rows);
    return;
  }
  std::vector<std::pair<Keyed, std::size_t>> keys;
  keys.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys.emplace_back(key_of(rows[i], ui.sort, i), i);
  std::ranges::stable_sort(keys, [&](const auto& a, const auto& b) {
    const int by_number = compare(a.first.number, b.first.number, ui.descending);
    if (by_number != 0) return by_number < 0;
    return compare(a.first.text, b.first.text, ui.descending) < 0;
  });
  std::vector<ProcessRow> sorted;
  sorted.reserve(rows.size());
  for (const auto& [key, at] : keys) sorted.push_back(std::move(rows[at]));
  rows = std::move(sorted);
}

// Those that started processes on GPUs stand above them; a chain of processes that started only one
// other is no news and is left out.
class Tree {
 public:
  Tree(const Sight& sight, std::vector<ProcessRow> rows) : sight_(sight), rows_(std::move(rows)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) by_pid_[rows_[i].id.pid].push_back(i);
    for (const auto& [pid, unused] : by_pid_) climb(pid);
  }

  std::vector<ProcessRow> flat() {
    std::vector<ProcessRow> out;
    // Roots in the order of their first row.
    std::vector<std::pair<std::size_t, int>> roots;
    for (const auto& [pid, unused] : first_) {
      if (!parent_.contains(pid)) roots.emplace_back(first_row(pid), pid);
    }
    std::ranges::sort(roots);
    for (const auto& [row, pid] : roots) put(pid, 0, out);
    return out;
  }

 private:
  void climb(int pid) {
    for (int i = 0; i < 64; ++i) {
      const bool is_new = first_.try_emplace(pid, 0).second;
      const auto host = sight_.host->find(pid);
      if (!is_new || host == sight_.host->end()) return;
      const int parent = host->second.usage.parent;
      // The first process has started everything.
      if (parent <= 1 || !sight_.host->contains(parent)) return;
      parent_[pid] = parent;
      children_[parent].insert(pid);
      pid = parent;
    }
  }

  std::size_t first_row(int pid) {
    std::size_t& first = first_[pid];
    if (first != 0) return first;
    first = rows_.size() + 1;
    if (const auto own = by_pid_.find(pid); own != by_pid_.end()) first = own->second.front() + 1;
    const auto below = children_.find(pid);
    if (below == children_.end()) return first;
    std::size_t least = first;
    for (const int child : below->second) least = std::min(least, first_row(child));
    return first_[pid] = least;
  }

  void put(int pid, int depth, std::vector<ProcessRow>& out) {
    const auto own = by_pid_.find(pid);
    const auto below = children_.find(pid);
    const std::size_t children = below == children_.end() ? 0 : below->second.size();
    const bool is_shown = own != by_pid_.end() || children > 1;
    if (own != by_pid_.end()) {
      for (const std::size_t i : own->second) {
        out.push_back(rows_[i]);
        out.back().depth = depth;
      }
    } else if (is_shown) {
      out.push_back(row_of(sight_, pid));
      out.back().depth = depth;
    }
    if (children == 0) return;
    std::vector<std::pair<std::size_t, int>> order;
    for (const int child : below->second) order.emplace_back(first_row(child), child);
    std::ranges::sort(order);
    for (const auto& [row, child] : order) put(child, depth + (is_shown ? 1 : 0), out);
  }

  const Sight& sight_;
  std::vector<ProcessRow> rows_;
  std::map<int, std::vector<std::size_t>> by_pid_;
  std::map<int, int> parent_;
  std::map<int, std::set<int>> children_;
  std::map<int, std::size_t> first_;  // row plus one, 0: not known yet
};

}  // namespace

std::vector<ProcessRow> list_processes(const Sight& sight, const Ui& ui) {
  const std::string wanted = lower(ui.filter);
  std::vector<ProcessRow> rows;
  for (const readout::Device& device : sight.live.snapshot->devices) {
    const std::string label = label_of(device);
    const std::string uuid = text_of(device, MetricId::kGpuUuid);
    for (const readout::Process& process : device.processes) {
      ProcessRow row = row_of(sight, process.pid);
      row.id.device = uuid;
      row.gpu = label;
      row.process = &process;
      if (matches(row, wanted)) rows.push_back(std::move(row));
    }
  }
  sort_rows(rows, ui);
  return ui.tree ? Tree(sight, std::move(rows)).flat() : rows;
}

std::string user_of(const ProcessRow& row) {
  const ProcessOwner* owner = owner_of(row);
  return owner == nullptr ? std::string() : text_or_empty(owner->user);
}

std::string program_of(const ProcessRow& row) {
  const ProcessOwner* owner = owner_of(row);
  if (owner == nullptr) return {};
  std::string arguments = text_or_empty(owner->arguments);
  return arguments.empty() ? text_or_empty(owner->program) : arguments;
}

std::string place_of(const ProcessRow& row) {
  const ProcessOwner* owner = owner_of(row);
  std::string place;
  if (owner == nullptr) return place;
  if (const std::string* job = owner->slurm_job.text()) place = "job " + *job;
  const std::string gap = place.empty() ? "" : " ";
  if (const std::string* pod = owner->pod.text()) {
    place += gap + text_or_empty(owner->pod_namespace) + "/" + *pod;
  } else if (const std::string* id = owner->container.text()) {
    place += gap + id->substr(0, kShownOfId);
  }
  return place;
}

std::optional<double> gpu_memory_of(const ProcessRow& row) {
  return row.process == nullptr ? std::nullopt : number(row.process->memory);
}
std::optional<double> sm_share_of(const ProcessRow& row) {
  return row.process == nullptr ? std::nullopt : number(row.process->util);
}
std::optional<double> cpu_share_of(const ProcessRow& row) {
  return row.host == nullptr ? std::nullopt : number(row.host->usage.cpu);
}
std::optional<double> host_memory_of(const ProcessRow& row) {
  return row.host == nullptr ? std::nullopt : number(row.host->usage.resident);
}
std::optional<double> running_of(const ProcessRow& row) {
  return row.host == nullptr ? std::nullopt : number(row.host->usage.running);
}

std::string_view sort_name(SortKey key) {
  switch (key) {
    case SortKey::kGpu:
      return "GPU";
    case SortKey::kPid:
      return "pid";
    case SortKey::kUser:
      return "user";
    case SortKey::kMemory:
      return "GPU mem";
    case SortKey::kSm:
      return "SM %";
    case SortKey::kCpu:
      return "CPU %";
    case SortKey::kHostMemory:
      return "host mem";
    case SortKey::kTime:
      return "time";
    case SortKey::kProgram:
      return "program";
  }
  return {};
}

bool descends_at_first(SortKey key) {
  return key == SortKey::kMemory || key == SortKey::kSm || key == SortKey::kCpu ||
         key == SortKey::kHostMemory || key == SortKey::kTime;
}

}  // namespace pyrometer::tui
