#include "analysis/host_load.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run_counters.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;

constexpr double kNsPerSecond = 1e9;
constexpr const char* kHost = "host";
constexpr const char* kFewReadings =
    "fewer than 5 readings, or less than 4 s of them, in the steps";

class HostLoad {
 public:
  HostLoad(const model::RankTimeline& t, FactWriter& facts)
      : run_(*t.run),
        counters_(*t.run, training_span(*t.run)),
        facts_(facts),
        own_("process " + std::to_string(t.run->pid)) {}

  void measure() {
    measure_cpus();
    measure_waits();
    measure_use();
    measure_paging();
    measure_memory();
    const std::string governor = counters_.text(kHost, "host.cpu_governor");
    if (governor.empty()) {
      facts_.missing(FactId::kHostGovernor, reason_of(kHost, "host.cpu_governor"));
    } else {
      facts_.set_text(FactId::kHostGovernor, governor);
    }
    tell_tracing();
  }

 private:
  std::string reason_of(std::string_view object, std::string_view name) const {
    const std::string reason = counters_.reason(object, name);
    return reason.empty() ? kFewReadings : reason;
  }

  void set(FactId id, std::optional<double> value, std::string_view object, std::string_view name) {
    if (value) {
      facts_.set(id, *value);
    } else {
      facts_.missing(id, reason_of(object, name));
    }
  }

  void set_rate(FactId id, std::string_view object, std::string_view name, double scale) {
    auto rate = counters_.rate(object, name);
    if (rate) *rate *= scale;
    set(id, rate, object, name);
  }

  void set_mean(FactId id, std::string_view object, std::string_view name) {
    const auto gauge = counters_.gauge(object, name);
    set(id, gauge ? std::optional(gauge->mean) : std::nullopt, object, name);
  }

  void measure_cpus() {
    const auto online = counters_.latest(kHost, "host.cpus");
    set(FactId::kHostCpusOnline, online, kHost, "host.cpus");
    auto allowed = counters_.latest(own_, "process.cpus_allowed");
    if (!allowed) allowed = counters_.latest(kHost, "host.cpus_allowed");
    set(FactId::kHostCpusAllowed, allowed, own_, "process.cpus_allowed");
    const auto quota = counters_.latest(kHost, "cgroup.cpu_quota");
    set(FactId::kHostCpuQuota, quota, kHost, "cgroup.cpu_quota");
    if (allowed) {
      facts_.set(FactId::kHostCpusUsable, quota ? std::min(*allowed, *quota) : *allowed);
    } else {
      facts_.missing(FactId::kHostCpusUsable, kFewReadings);
    }
    const auto periods = counters_.rate(kHost, "cgroup.cpu_periods");
    const auto throttled = counters_.rate(kHost, "cgroup.cpu_throttled_periods");
    if (quota && periods && throttled && *periods > 0) {
      facts_.set(FactId::kHostQuotaThrottledPeriods, std::min(1.0, *throttled / *periods));
    } else {
      facts_.missing(FactId::kHostQuotaThrottledPeriods,
                     quota ? kFewReadings : reason_of(kHost, "cgroup.cpu_quota"));
    }
  }

  void measure_waits() {
    set_rate(FactId::kHostMainRunWait, own_, "process.run_wait", 1);
    set_rate(FactId::kHostThreadsRunWait, own_, "process.threads_run_wait", 1);
    set_rate(FactId::kHostInvoluntarySwitches, own_, "process.switches_involuntary", kNsPerSecond);
    set_rate(FactId::kHostIoWait, own_, "process.io_delay", 1);
  }

  void measure_use() {
    set_mean(FactId::kHostCpuBusy, kHost, "host.cpu_busy");
    set_rate(FactId::kHostTreeCpu, kHost, "tree.cpu", 1);
    set_mean(FactId::kHostTreeThreads, kHost, "tree.threads");
    set_mean(FactId::kHostProcessThreads, own_, "process.threads");
  }

  void measure_paging() {
    set_rate(FactId::kHostMajorFaults, own_, "process.faults_major", kNsPerSecond);
    const auto in = counters_.gauge(kHost, "host.swap_in");
    const auto out = counters_.gauge(kHost, "host.swap_out");
    set(FactId::kHostSwapRate, in && out ? std::optional(in->mean + out->mean) : std::nullopt,
        kHost, "host.swap_in");
  }

  void measure_memory() {
    const auto points = counters_.points(kHost, "host.memory_available");
    const std::vector<FactId> falling = {FactId::kHostMemoryFalling,
                                         FactId::kHostMemoryFallingConsistency};
    constexpr std::size_t kForTrend = 20;
    if (points.size() < kForTrend) {
      facts_.missing(falling, "fewer than 20 readings in the steps");
    } else {
      std::vector<double> values;
      std::size_t fell = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        values.push_back(points[i].value);
        if (i > 0 && points[i].value < points[i - 1].value) ++fell;
      }
      const double apart = static_cast<double>(points.back().time - points.front().time) /
                           static_cast<double>(points.size() - 1) / kNsPerSecond;
      facts_.set(FactId::kHostMemoryFalling, apart > 0 ? -robust_slope(values) / apart : 0);
      facts_.set(FactId::kHostMemoryFallingConsistency,
                 static_cast<double>(fell) / static_cast<double>(points.size() - 1));
    }
    set(FactId::kHostMemoryAvailable,
        points.empty() ? std::nullopt : std::optional(points.back().value), kHost,
        "host.memory_available");
    const auto total = counters_.latest(kHost, "host.shm_total");
    const auto used = counters_.gauge(kHost, "host.shm_used", 1);
    set(FactId::kHostShmTotal, total, kHost, "host.shm_total");
    set(FactId::kHostShmUsed,
        total && used && *total > 0 ? std::optional(used->max / *total) : std::nullopt, kHost,
        "host.shm_used");
  }

  void tell_tracing() {
    const auto is = [&](const char* key, std::string_view value) {
      const auto found = run_.info.find(key);
      return found != run_.info.end() && found->second == value;
    };
    std::string list;
    const auto add = [&list](bool on, const char* what) {
      if (on) list += (list.empty() ? "" : ", ") + std::string(what);
    };
    add(is("python.trace", "True"), "a trace function (debugger or coverage)");
    add(is("python.profile", "True"), "a profile function (cProfile and the like)");
    add(is("python.dev_mode", "True"), "development mode (-X dev)");
    add(is("python.debug", "True"), "a debug build of Python");
    add(is("torch.debug_build", "True"), "a debug build of PyTorch");
    add(is("env.PYTHONMALLOC", "debug"), "Python's debug allocator");
    if (!list.empty()) {
      facts_.set_text(FactId::kHostPythonTracing, list);
    } else if (run_.info.contains("python.version")) {
      facts_.set_text(FactId::kHostPythonTracing, "none");
    } else {
      facts_.missing(FactId::kHostPythonTracing, "the Python hook was not in the process");
    }
  }

  const model::RecordedRun& run_;
  RunCounters counters_;
  FactWriter& facts_;
  std::string own_;
};

}  // namespace

void measure_host_load(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (t.run == nullptr) {
    facts.all_missing("host_load",
                      "a trace says nothing of the machine and the whole run; pyrometer run does");
    return;
  }
  HostLoad(t, facts).measure();
}

}  // namespace pyrometer::analysis
