#include "readout/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "output/page.h"
#include "readout/visible.h"

namespace pyrometer::readout {
namespace {

constexpr double kGib = 1 << 30;
constexpr double kPercent = 100;
// Of the memory, where no amount is asked for. A desktop takes some, a program's leftovers more.
constexpr double kLeastFreeShare = 0.75;
// Less than this is taken by the driver and by what draws, not by a program that computes.
constexpr double kQuietUsedShare = 0.05;
constexpr double kProhibited = 2;
constexpr double kOneProcess = 3;

std::optional<double> free_bytes(const Device& device) {
  if (const auto free = number_of(device, MetricId::kGpuMemoryFree)) return free;
  const auto total = number_of(device, MetricId::kGpuMemoryTotal);
  const auto used = number_of(device, MetricId::kGpuMemoryUsed);
  return total && used ? std::optional(*total - *used) : std::nullopt;
}

std::size_t computing(const Device& device) {
  return static_cast<std::size_t>(std::ranges::count_if(device.processes, &Process::computes));
}

std::string computing_text(const Device& device, std::size_t count) {
  if (count > 1) return std::to_string(count) + " processes compute on it";
  const auto process = std::ranges::find_if(device.processes, &Process::computes);
  std::string who;
  for (const Value* value : {&process->owner.user, &process->owner.program}) {
    if (value->text() != nullptr) who += ", " + *value->text();
  }
  return "process " + std::to_string(process->pid) + who + " computes on it";
}

// The measure by which devices are ranked, the lowest first. What is not known goes last.
double measure(const Device& device, const Judged& judged, Order order) {
  constexpr double kUnknown = std::numeric_limits<double>::max();
  switch (order) {
    case Order::kFree: {
      const auto free = free_bytes(device);
      return free ? -*free : kUnknown;
    }
    case Order::kUtil:
      return judged.util.value_or(kUnknown);
    case Order::kPower:
      return number_of(device, MetricId::kGpuPower).value_or(kUnknown);
    case Order::kTemperature:
      return number_of(device, MetricId::kGpuTemperature).value_or(kUnknown);
    case Order::kIndex:
      break;
  }
  return 0;
}

std::string joined(const std::vector<std::string>& clauses) {
  std::string text;
  for (const std::string& clause : clauses) text += (text.empty() ? "" : "; ") + clause;
  return text;
}

}  // namespace

std::string device_key(const Device& device) {
  const std::string uuid = text_of(device, MetricId::kGpuUuid);
  return uuid.empty() ? text_of(device, MetricId::kGpuPciId) : uuid;
}

void Judge::look(const Snapshot& snapshot) {
  for (const Device& device : snapshot.devices) {
    const auto util = number_of(device, MetricId::kGpuUtil);
    if (!util) continue;
    const auto [entry, is_new] = highest_.emplace(device_key(device), *util);
    if (!is_new) entry->second = std::max(entry->second, *util);
  }
}

void Judge::judge_memory(const Device& device, std::size_t count, Judged& judged) const {
  const auto free = free_bytes(device);
  const auto total = number_of(device, MetricId::kGpuMemoryTotal);
  if (wish_.min_free) {
    if (!free) {
      judged.objections.push_back("free memory unknown");
    } else if (*free < *wish_.min_free) {
      judged.objections.push_back(
          fmt::format("{:.1f} GiB free, {:.1f} wanted", *free / kGib, *wish_.min_free / kGib));
    }
    return;
  }
  if (count > 0) judged.objections.push_back(computing_text(device, count));
  if (count == 0 && free && total && *free < *total * kLeastFreeShare) {
    judged.objections.push_back(
        fmt::format("{:.0f}% of its memory in use", (1 - *free / *total) * kPercent));
  }
}

Judged Judge::judge(const Device& device) const {
  Judged judged;
  const auto known = highest_.find(device_key(device));
  if (known != highest_.end()) judged.util = known->second;
  if (device.state == DeviceState::kLost) {
    judged.objections.emplace_back("lost: it has fallen off the bus");
    return judged;
  }
  if (device.state == DeviceState::kAsleep) {
    judged.objections.emplace_back("asleep, and not woken to be looked at");
    return judged;
  }
  if (number_of(device, MetricId::kGpuMigEnabled).value_or(0) > 0 && !device.is_mig) {
    const bool has_any = number_of(device, MetricId::kGpuMigInstances).value_or(0) > 0;
    judged.objections.emplace_back(has_any ? "divided into MIG instances"
                                           : "MIG mode is on and it has no instances");
    return judged;
  }
  if (device.is_mig && wish_.count > 1) {
    judged.objections.emplace_back("a program can use one MIG instance only");
  }
  const std::size_t count = computing(device);
  const double mode = number_of(device, MetricId::kGpuComputeMode).value_or(0);
  if (mode == kProhibited) judged.objections.emplace_back("its compute mode prohibits programs");
  if (mode == kOneProcess && count > 0 && wish_.min_free) {
    judged.objections.emplace_back("its compute mode allows one process, which it has");
  }
  judge_memory(device, count, judged);
  if (judged.util && *judged.util > wish_.max_util) {
    judged.objections.push_back(fmt::format("{:.0f}% busy, at most {:g}% wanted",
                                            *judged.util * kPercent, wish_.max_util * kPercent));
  } else if (!judged.util && wish_.min_free && count > 0 && wish_.max_util < 1) {
    judged.objections.emplace_back("its utilization is not measured, and " +
                                   computing_text(device, count));
  }
  return judged;
}

std::vector<Judged> Judge::judge(const Snapshot& snapshot) const {
  std::vector<Judged> judged;
  for (const Device& device : snapshot.devices) judged.push_back(judge(device));
  return judged;
}

bool Judge::wants_more(const Snapshot& snapshot, const std::vector<Judged>& judged) const {
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const Device& device = snapshot.devices[i];
    if (!judged[i].fits() || wish_.max_util >= 1) continue;
    const auto total = number_of(device, MetricId::kGpuMemoryTotal);
    const auto used = number_of(device, MetricId::kGpuMemoryUsed);
    const bool is_empty = used && total && *used <= *total * kQuietUsedShare;
    if (computing(device) > 0 || judged[i].util.value_or(0) > 0 || !is_empty) return true;
  }
  return false;
}

std::vector<std::size_t> Judge::ranked(const Snapshot& snapshot,
                                       const std::vector<Judged>& judged) const {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (judged[i].fits()) fitting.push_back(i);
  }
  std::ranges::stable_sort(fitting, {}, [&](std::size_t i) {
    return measure(snapshot.devices[i], judged[i], wish_.order);
  });
  return fitting;
}

std::string choice_table(const Snapshot& snapshot, const std::vector<Judged>& judged,
                         const std::vector<std::size_t>& chosen, const output::TextStyle& style) {
  using output::Align;
  using output::Shorten;
  output::Table table{.columns = {{"GPU", Align::kLeft},
                                  {"name", Align::kLeft, Shorten::kSymbol, 5},
                                  {"free GiB", Align::kRight, Shorten::kNever, 3},
                                  {"util %", Align::kRight, Shorten::kNever, 4},
                                  {"why not", Align::kLeft}},
                      .rows = {}};
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const Device& device = snapshot.devices[i];
    const auto free = free_bytes(device);
    const std::string profile = text_of(device, MetricId::kGpuMigProfile);
    const std::string name = text_of(device, MetricId::kGpuName);
    const bool is_chosen = std::ranges::count(chosen, i) > 0;
    table.rows.push_back({label_of(device),
                          !profile.empty() ? "MIG " + profile
                          : name.empty()   ? "–"
                                           : name,
                          free ? fmt::format("{:.1f}", *free / kGib) : "–",
                          judged[i].util ? fmt::format("{:.0f}", *judged[i].util * kPercent) : "–",
                          is_chosen          ? "chosen"
                          : judged[i].fits() ? "fits"
                                             : joined(judged[i].objections)});
  }
  output::Page page(style);
  page.table(2, table);
  return page.take();
}

}  // namespace pyrometer::readout
