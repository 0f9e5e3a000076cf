#include "analysis/kernels.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "analysis/kernel_facts.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ClassRow;
using model::DurationNs;
using model::Index;
using model::KernelRow;
using model::KernelTraits;
using model::kNone;
using model::NameId;

// Kernels of the window, grouped by name, names of equal traits beside each other. `duration` and
// `config` are parallel; name k has the positions [begin[k], begin[k + 1]).
struct Groups {
  std::vector<NameId> names;
  std::vector<std::size_t> begin;
  std::vector<DurationNs> duration;
  std::vector<Index> config;  // row of kernel_configs, kNone: not given
};

std::uint32_t order_of(const KernelTraits& traits) {
  return static_cast<std::uint32_t>(traits.klass) << 16 |
         static_cast<std::uint32_t>(traits.matrix_units) << 8 |
         static_cast<std::uint32_t>(traits.math);
}

template <typename Visit>
void for_each_kernel(const model::RankTimeline& t, model::Interval window, Visit visit) {
  for (const model::Device& device : t.devices) {
    const model::RowRange rows = rows_within(t.activities.start, device.activities, window);
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (t.activities.kind[i] == model::ActivityKind::kKernel) visit(i);
    }
  }
}

Groups group_by_name(const model::RankTimeline& t, const model::RankAnalysis& a) {
  std::vector<std::size_t> place(t.names.size(), 0);
  for_each_kernel(t, a.steps.window, [&](Index i) { ++place[t.activities.name[i]]; });

  Groups groups;
  for (NameId name = 0; name < place.size(); ++name) {
    if (place[name] > 0) groups.names.push_back(name);
  }
  std::sort(groups.names.begin(), groups.names.end(), [&](NameId x, NameId y) {
    const auto order_x = order_of(a.kernel_traits[x]);
    const auto order_y = order_of(a.kernel_traits[y]);
    return order_x != order_y ? order_x < order_y : t.name(x) < t.name(y);
  });
  std::size_t total = 0;
  for (const NameId name : groups.names) {
    groups.begin.push_back(total);
    total += std::exchange(place[name], total);
  }
  groups.begin.push_back(total);

  groups.duration.resize(total);
  groups.config.resize(total);
  for_each_kernel(t, a.steps.window, [&](Index i) {
    const std::size_t at = place[t.activities.name[i]]++;
    groups.duration[at] = t.activities.duration(i);
    groups.config[at] = t.activities.detail[i];
  });
  return groups;
}

// Registers of the most frequent configuration and time-weighted occupancy of one group.
class ConfigSummary {
 public:
  explicit ConfigSummary(const model::RankTimeline& t)
      : configs_(t.kernel_configs), uses_(configs_.size(), 0) {}

  void fill(std::span<const DurationNs> duration, std::span<const Index> config, KernelRow& row) {
    double weighted = 0;
    double weight = 0;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < config.size(); ++i) {
      if (config[i] == kNone) continue;
      const model::KernelConfig& c = configs_[config[i]];
      // Ties go to the larger number, so that the order of kernels does not matter.
      const std::uint32_t uses = ++uses_[config[i]];
      if (uses > most || (uses == most && c.registers_per_thread > row.registers)) {
        most = uses;
        row.registers = c.registers_per_thread;
      }
      if (c.occupancy_pct >= 0) {
        weighted += static_cast<double>(c.occupancy_pct) * static_cast<double>(duration[i]);
        weight += static_cast<double>(duration[i]);
      }
    }
    for (const Index used : config) {
      if (used != kNone) uses_[used] = 0;
    }
    if (weight > 0) row.occupancy_pct = static_cast<float>(weighted / weight);
  }

 private:
  const std::vector<model::KernelConfig>& configs_;
  std::vector<std::uint32_t> uses_;  // all zero between calls
};

double share_of(DurationNs part, DurationNs whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

model::KernelTable tabulate(const model::RankTimeline& t, const model::RankAnalysis& a,
                            Groups& groups) {
  model::KernelTable table;
  ConfigSummary configs(t);
  const std::span<DurationNs> all(groups.duration);
  const std::span<const Index> config(groups.config);
  for (std::size_t k = 0; k < groups.names.size(); ++k) {
    const std::size_t from = groups.begin[k];
    const std::size_t size = groups.begin[k + 1] - from;
    KernelRow row;
    row.name = groups.names[k];
    row.traits = a.kernel_traits[row.name];
    configs.fill(all.subspan(from, size), config.subspan(from, size), row);
    row.stats = summarise(all.subspan(from, size));
    table.by_name.push_back(row);
  }
  for (std::size_t k = 0; k < groups.names.size();) {
    std::size_t end = k + 1;
    const KernelTraits& traits = table.by_name[k].traits;
    while (end < groups.names.size() && order_of(table.by_name[end].traits) == order_of(traits)) {
      ++end;
    }
    ClassRow row;
    row.klass = traits.klass;
    row.matrix_units = traits.matrix_units;
    row.math = traits.math;
    row.stats = summarise(all.subspan(groups.begin[k], groups.begin[end] - groups.begin[k]));
    table.by_class.push_back(row);
    k = end;
  }
  table.all = summarise(all);
  for (KernelRow& row : table.by_name) row.share = share_of(row.stats.total, table.all.total);
  for (ClassRow& row : table.by_class) row.share = share_of(row.stats.total, table.all.total);
  // Stable: ties stay in the order of class and name.
  const auto longer = [](const auto& x, const auto& y) { return x.stats.total > y.stats.total; };
  std::stable_sort(table.by_name.begin(), table.by_name.end(), longer);
  std::stable_sort(table.by_class.begin(), table.by_class.end(), longer);
  return table;
}

}  // namespace

void tabulate_kernels(const model::RankTimeline& t, model::RankAnalysis& a) {
  Groups groups = group_by_name(t, a);
  a.kernels = tabulate(t, a, groups);
  set_kernel_facts(t, a);
}

}  // namespace pyrometer::analysis
