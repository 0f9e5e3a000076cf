#include "analysis/device_state.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run_counters.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;

constexpr const char* kFewReadings = "fewer than 5 readings in the steps";

// Bytes per second that a PCIe lane carries in one direction, by generation, after line coding (PCI
// Express base specifications 1.1 to 6.0). 0: unknown generation.
double lane_rate(double generation) {
  constexpr double kRates[] = {0, 250e6, 500e6, 984.6e6, 1969e6, 3938e6, 7563e6};
  const auto index = static_cast<std::size_t>(std::max(0.0, std::round(generation)));
  return index < std::size(kRates) ? kRates[index] : 0;
}

// Objects of the GPUs that the process used, "gpu N". By UUID; where there is only one GPU and one
// device, they are the same.
std::vector<std::string> objects_of(const model::RecordedRun& run) {
  std::map<std::string, std::string> by_uuid;
  std::set<std::string> all;
  for (const model::CounterText& text : run.texts) {
    if (!number_after(text.object, "gpu ")) continue;
    all.insert(text.object);
    if (text.name == "gpu.uuid" && !text.changes.empty() && !text.changes.back().is_reason) {
      by_uuid[text.changes.back().text] = text.object;
    }
  }
  for (const model::CounterSummary& counter : run.counters) {
    if (number_after(counter.object, "gpu ")) all.insert(counter.object);
  }
  std::vector<std::string> found;
  for (const model::UsedDevice& device : run.devices) {
    const auto known = by_uuid.find(device.uuid);
    if (known != by_uuid.end()) {
      found.push_back(known->second);
    } else if (all.size() == 1 && run.devices.size() == 1) {
      found.push_back(*all.begin());
    }
  }
  return found;
}

class DeviceState {
 public:
  DeviceState(const model::RecordedRun& run, std::vector<std::string> gpus, FactWriter& facts)
      : run_(run), counters_(run, training_span(run)), gpus_(std::move(gpus)), facts_(facts) {}

  void measure() {
    measure_clocks();
    measure_use();
    measure_others();
    measure_errors();
    measure_mode();
    measure_link();
  }

 private:
  using Value = std::optional<double>;
  using OfGpu = std::function<Value(const std::string&)>;

  // The worst of the rank's devices by `better`.
  Value pick(const OfGpu& value, bool largest) const {
    Value found;
    for (const std::string& gpu : gpus_) {
      const Value one = value(gpu);
      if (one && (!found || (largest ? *one > *found : *one < *found))) found = one;
    }
    return found;
  }

  void set(FactId id, Value value, const char* name) {
    if (value) return facts_.set(id, *value);
    std::string reason;
    for (const std::string& gpu : gpus_) {
      if (reason.empty()) reason = counters_.reason(gpu, name);
    }
    facts_.missing(id, reason.empty() ? kFewReadings : reason);
  }

  Value mean(const std::string& gpu, const char* name) const {
    const auto gauge = counters_.gauge(gpu, name);
    return gauge ? Value(gauge->mean) : std::nullopt;
  }

  // The driver counts the time itself where it can; else readings of the reason (0 or 1).
  Value held_down(const std::string& gpu, const char* counter,
                  std::initializer_list<const char*> flags) const {
    if (counter != nullptr) {
      if (const auto rate = counters_.rate(gpu, counter)) return std::min(1.0, *rate);
    }
    Value most;
    for (const char* flag : flags) {
      const Value one = mean(gpu, flag);
      if (one) most = std::max(most.value_or(0), *one);
    }
    return most;
  }

  void measure_clocks() {
    set(FactId::kDevicePowerCapped,
        pick(
            [&](const std::string& gpu) {
              return held_down(gpu, "gpu.violation_power", {"gpu.throttle_power_cap"});
            },
            true),
        "gpu.throttle_power_cap");
    set(FactId::kDeviceThermalCapped,
        pick(
            [&](const std::string& gpu) {
              return held_down(gpu, "gpu.violation_thermal",
                               {"gpu.throttle_thermal", "gpu.throttle_hw_thermal"});
            },
            true),
        "gpu.throttle_thermal");
    set(FactId::kDeviceSlowed,
        pick(
            [&](const std::string& gpu) {
              return held_down(gpu, nullptr, {"gpu.throttle_power_brake"});
            },
            true),
        "gpu.throttle_power_brake");
    set(FactId::kDeviceClockShare,
        pick(
            [&](const std::string& gpu) -> Value {
              const Value clock = mean(gpu, "gpu.clock_sm");
              const Value most = counters_.latest(gpu, "gpu.clock_sm_max");
              if (!clock || !most || *most <= 0) return std::nullopt;
              return *clock / *most;
            },
            false),
        "gpu.clock_sm");
    set(FactId::kDevicePower,
        pick([&](const std::string& gpu) { return mean(gpu, "gpu.power"); }, true), "gpu.power");
    // Limit and default of the same device: the one that was lowered most.
    Value limit;
    Value usual;
    for (const std::string& gpu : gpus_) {
      const Value now = counters_.latest(gpu, "gpu.power_limit");
      const Value then = counters_.latest(gpu, "gpu.power_limit_default");
      if (!now || !then || *then <= 0) continue;
      if (!limit || *now / *then < *limit / *usual) {
        limit = now;
        usual = then;
      }
    }
    set(FactId::kDevicePowerLimit, limit, "gpu.power_limit");
    set(FactId::kDevicePowerLimitDefault, usual, "gpu.power_limit_default");
    set(FactId::kDeviceTemperature,
        pick(
            [&](const std::string& gpu) -> Value {
              const auto gauge = counters_.gauge(gpu, "gpu.temperature");
              return gauge ? Value(gauge->max) : std::nullopt;
            },
            true),
        "gpu.temperature");
  }

  void measure_use() {
    set(FactId::kDeviceUtil,
        pick([&](const std::string& gpu) { return mean(gpu, "gpu.util"); }, false), "gpu.util");
    set(FactId::kDeviceSmActive,
        pick([&](const std::string& gpu) { return mean(gpu, "gpu.sm_active"); }, false),
        "gpu.sm_active");
  }

  // Processes from outside of the command on one GPU. In a container the driver may number
  // processes otherwise than we do: where ours is not among them, nothing can be said.
  struct Others {
    bool known = true;
    double count = 0;
    double util = 0;
    double memory = 0;
  };

  Others others_on(const std::string& gpu) const {
    const std::string prefix = gpu + " process ";
    std::set<std::int64_t> all;
    for (const model::CounterSummary& counter : run_.counters) {
      if (const auto pid = number_after(counter.object, prefix)) all.insert(*pid);
    }
    Others others;
    bool own_seen = false;
    for (const std::int64_t pid : all) {
      const std::string process = "process " + std::to_string(pid);
      if (counters_.find(process, "process.parent") != nullptr ||
          counters_.find(process, "process.cpu_user") != nullptr) {
        own_seen = true;
        continue;
      }
      const std::string object = prefix + std::to_string(pid);
      // It has to be there during the steps.
      const auto memory = counters_.gauge(object, "gpu.process.memory", 1);
      const auto util = counters_.points(object, "gpu.process.util");
      if (!memory && util.empty()) continue;
      others.count += 1;
      if (memory) others.memory += memory->max;
      // Its readings end with it: the mean is over those of the GPU.
      const std::size_t rounds =
          std::max({std::size_t{1}, util.size(), counters_.points(gpu, "gpu.util").size()});
      for (const model::CounterPoint& point : util) {
        others.util += point.value / static_cast<double>(rounds);
      }
    }
    others.known = own_seen || all.empty();
    return others;
  }

  void measure_others() {
    const std::vector<FactId> ids = {FactId::kDeviceOthers, FactId::kDeviceOthersUtil,
                                     FactId::kDeviceOthersMemory};
    Others worst;
    worst.known = false;
    for (const std::string& gpu : gpus_) {
      const Others one = others_on(gpu);
      if (!one.known) {
        return facts_.missing(ids, "the driver numbers processes otherwise than this container");
      }
      if (!worst.known || one.util > worst.util ||
          (one.util == worst.util && one.memory > worst.memory)) {
        worst = one;
      }
    }
    facts_.set(FactId::kDeviceOthers, worst.count);
    facts_.set(FactId::kDeviceOthersUtil, std::min(1.0, worst.util));
    facts_.set(FactId::kDeviceOthersMemory, worst.memory);
  }

  void measure_errors() {
    Value errors;
    Value xid;
    for (const std::string& gpu : gpus_) {
      const Value grown = counters_.growth(gpu, "gpu.ecc_volatile_uncorrected");
      if (grown) errors = errors.value_or(0) + *grown;
      const Value last = counters_.latest(gpu, "gpu.xid");
      if (last) xid = std::max(xid.value_or(0), *last);
    }
    set(FactId::kDeviceUncorrectedErrors, errors, "gpu.ecc_volatile_uncorrected");
    set(FactId::kDeviceXid, xid, "gpu.xid");
    const auto flag = [&](const char* name) {
      return pick([&](const std::string& gpu) { return counters_.latest(gpu, name); }, true);
    };
    set(FactId::kDeviceRemapPending, flag("gpu.remap_pending"), "gpu.remap_pending");
    set(FactId::kDeviceRemapFailed, flag("gpu.remap_failed"), "gpu.remap_failed");
  }

  void measure_mode() {
    set(FactId::kDevicePersistence,
        pick([&](const std::string& gpu) { return counters_.latest(gpu, "gpu.persistence"); },
             false),
        "gpu.persistence");
    for (const std::string& gpu : gpus_) {
      const std::string profile = counters_.text(gpu, "gpu.mig_profile");
      if (!profile.empty()) return facts_.set_text(FactId::kDeviceMigProfile, profile);
    }
    facts_.missing(FactId::kDeviceMigProfile, "no MIG instance is used");
  }

  struct Link {
    double generation = 0, width = 0;
    double share = 0;  // of the bandwidth possible
    Value busy;
  };

  // The highest seen: at rest a link falls to generation 1.
  std::optional<Link> link_of(const std::string& gpu) const {
    const auto generation = counters_.gauge(gpu, "gpu.pcie_generation", 2);
    const auto width = counters_.gauge(gpu, "gpu.pcie_width", 2);
    const Value best_generation = counters_.latest(gpu, "gpu.pcie_generation_max");
    const Value best_width = counters_.latest(gpu, "gpu.pcie_width_max");
    if (!generation || !width || !best_generation || !best_width) return std::nullopt;
    const double most = lane_rate(*best_generation) * *best_width;
    const double reached = lane_rate(generation->max) * width->max;
    if (most <= 0 || reached <= 0) return std::nullopt;
    Link link{generation->max, width->max, std::min(1.0, reached / most), std::nullopt};
    const Value to = mean(gpu, "gpu.pcie_rx");
    const Value from = mean(gpu, "gpu.pcie_tx");
    if (to && from) link.busy = std::max(*to, *from) / reached;
    return link;
  }

  void measure_link() {
    std::optional<Link> worst;
    Value busiest;
    for (const std::string& gpu : gpus_) {
      const auto link = link_of(gpu);
      if (!link) continue;
      if (!worst || link->share < worst->share) worst = link;
      if (link->busy) busiest = std::max(busiest.value_or(0), *link->busy);
    }
    const char* name = "gpu.pcie_generation";
    set(FactId::kDeviceLinkShare, worst ? Value(worst->share) : std::nullopt, name);
    set(FactId::kDeviceLinkGeneration, worst ? Value(worst->generation) : std::nullopt, name);
    set(FactId::kDeviceLinkWidth, worst ? Value(worst->width) : std::nullopt, name);
    set(FactId::kDeviceLinkBusy, busiest, "gpu.pcie_rx");
    set(FactId::kDeviceNvlinks,
        pick([&](const std::string& gpu) { return counters_.latest(gpu, "gpu.nvlink_active"); },
             false),
        "gpu.nvlink_active");
    set(FactId::kDeviceNvlinksDown,
        pick([&](const std::string& gpu) { return counters_.latest(gpu, "gpu.nvlink_down"); },
             true),
        "gpu.nvlink_down");
  }

  const model::RecordedRun& run_;
  RunCounters counters_;
  std::vector<std::string> gpus_;
  FactWriter& facts_;
};

}  // namespace

void measure_device_state(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (t.run == nullptr) {
    facts.all_missing("device_state",
                      "a trace says nothing of the machine and the whole run; pyrometer run does");
    return;
  }
  if (t.run->devices.empty()) {
    facts.all_missing("device_state", "the process used no GPU");
    return;
  }
  std::vector<std::string> gpus = objects_of(*t.run);
  if (gpus.size() < t.run->devices.size()) {
    facts.all_missing("device_state", "the process's GPUs are not among those that were watched");
    return;
  }
  DeviceState(*t.run, std::move(gpus), facts).measure();
}

}  // namespace pyrometer::analysis
