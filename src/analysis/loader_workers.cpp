#include "analysis/loader_workers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_counters.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Interval;

constexpr const char* kWorkerName = "pt_data_worker";  // PyTorch 2.6 and newer
constexpr double kNsPerSecond = 1e9;

struct Worker {
  std::string object;
  bool named = false;          // as PyTorch names workers
  Interval life;               // within the window, from the first to the last reading
  double resident = 0;         // bytes, mean
  double cpu = 0;              // of its life
  double run_wait = 0;         // of its life
  double disk_wait = 0;        // of its life
  std::optional<double> read;  // bytes per ns
  std::optional<double> cpus_allowed;
  std::optional<double> growth;  // bytes per s
};

std::int64_t configured_workers(const model::RecordedRun& run) {
  std::int64_t most = -1;
  for (const auto& [key, value] : run.info) {
    if (!key.starts_with("loader.") || !key.ends_with(".num_workers")) continue;
    std::int64_t number = -1;
    std::from_chars(value.data(), value.data() + value.size(), number);
    most = std::max(most, number);
  }
  return most;
}

// Part of `span` in which a text was `wanted`.
double share_of_text(const model::CounterText* text, Interval span, std::string_view wanted) {
  if (text == nullptr || span.length() <= 0) return 0;
  DurationNs sum = 0;
  for (std::size_t i = 0; i < text->changes.size(); ++i) {
    const auto& change = text->changes[i];
    if (change.is_reason || change.text != wanted) continue;
    const model::TimeNs end = i + 1 < text->changes.size() ? text->changes[i + 1].time : span.end;
    sum += clipped(change.time, end, span);
  }
  return static_cast<double>(sum) / static_cast<double>(span.length());
}

std::optional<Worker> worker_of(const model::RecordedRun& run, Interval window,
                                const std::string& object) {
  const RunCounters whole(run, window);
  const auto readings = whole.points(object, "process.cpu_user");
  if (readings.size() < 2) return std::nullopt;
  Worker worker{.object = object, .life = {readings.front().time, readings.back().time}};
  constexpr DurationNs kLeastLife = 2'000'000'000;
  if (worker.life.length() < kLeastLife) return std::nullopt;
  const RunCounters own(run, worker.life);
  const auto length = static_cast<double>(worker.life.length());
  const auto grown = [&](const char* name) -> std::optional<double> {
    const auto points = own.points(object, name);
    if (points.size() < 2) return std::nullopt;
    return points.back().value - points.front().value;
  };
  const auto user = grown("process.cpu_user");
  const auto system = grown("process.cpu_system");
  const auto wait = grown("process.run_wait");
  if (!user || !system || !wait) return std::nullopt;
  worker.cpu = (*user + *system) / length;
  worker.run_wait = *wait / length;
  worker.disk_wait = share_of_text(own.find_text(object, "process.state"), worker.life, "D");
  worker.read = own.rate(object, "process.read");
  worker.cpus_allowed = own.latest(object, "process.cpus_allowed");
  const auto resident = own.points(object, "process.resident");
  std::vector<double> bytes;
  for (const model::CounterPoint& point : resident) {
    bytes.push_back(point.value);
    worker.resident += point.value / static_cast<double>(resident.size());
  }
  constexpr std::size_t kForTrend = 20;
  if (bytes.size() >= kForTrend) {
    const double apart = static_cast<double>(resident.back().time - resident.front().time) /
                         static_cast<double>(bytes.size() - 1) / kNsPerSecond;
    if (apart > 0) worker.growth = robust_slope(bytes) / apart;
  }
  return worker;
}

std::vector<Worker> find_workers(const model::RecordedRun& run, Interval window) {
  const RunCounters counters(run, window);
  const std::string own_name = counters.text("process " + std::to_string(run.pid), "process.name");
  std::vector<Worker> found;
  for (const model::CounterSummary& counter : run.counters) {
    if (counter.name != "process.parent" || counter.first != static_cast<double>(run.pid)) continue;
    const std::string name = counters.text(counter.object, "process.name");
    const bool named = name == kWorkerName;
    if (!named && (name.empty() || name != own_name)) continue;
    if (auto worker = worker_of(run, window, counter.object)) {
      worker->named = named;
      found.push_back(std::move(*worker));
    }
  }
  if (std::any_of(found.begin(), found.end(), [](const Worker& w) { return w.named; })) {
    std::erase_if(found, [](const Worker& w) { return !w.named; });
  }
  // Helpers of Python's multiprocessing (a resource tracker) hold hardly any memory.
  constexpr double kHelper = 0.4;
  double largest = 0;
  for (const Worker& worker : found) largest = std::max(largest, worker.resident);
  std::erase_if(found, [&](const Worker& w) { return w.resident < kHelper * largest; });
  return found;
}

void tell(const std::vector<Worker>& workers, Interval window, FactWriter& facts) {
  double life = 0;
  double cpu = 0;
  double run_wait = 0;
  double disk_wait = 0;
  double busiest = 0;
  double read = 0;
  bool read_known = false;
  std::optional<double> fewest;
  std::vector<double> growth;
  for (const Worker& worker : workers) {
    const auto length = static_cast<double>(worker.life.length());
    life += length;
    cpu += worker.cpu * length;
    run_wait += worker.run_wait * length;
    disk_wait += worker.disk_wait * length;
    busiest = std::max(busiest, worker.cpu + worker.run_wait);
    if (worker.read) {
      read_known = true;
      read += *worker.read * length;
    }
    if (worker.cpus_allowed) {
      fewest = std::min(fewest.value_or(*worker.cpus_allowed), *worker.cpus_allowed);
    }
    if (worker.growth) growth.push_back(*worker.growth);
  }
  const auto span = static_cast<double>(window.length());
  facts.set(FactId::kWorkersAlive, life / span);
  facts.set(FactId::kWorkersCpu, cpu / life);
  facts.set(FactId::kWorkersRunWait, run_wait / life);
  facts.set(FactId::kWorkersBlocked, std::clamp(1 - (cpu + run_wait) / life, 0.0, 1.0));
  facts.set(FactId::kWorkersDiskWait, disk_wait / life);
  facts.set(FactId::kWorkersBusiest, std::min(1.0, busiest));
  if (read_known) {
    facts.set(FactId::kWorkersReadRate, read / span * kNsPerSecond);
  } else {
    facts.missing(FactId::kWorkersReadRate, "the workers' I/O may not be read, or too briefly");
  }
  if (fewest) {
    facts.set(FactId::kWorkersCpusAllowed, *fewest);
  } else {
    facts.missing(FactId::kWorkersCpusAllowed, "the workers' affinity was not read");
  }
  if (growth.empty()) {
    facts.missing(FactId::kWorkersMemoryGrowth, "no worker lived for 20 readings");
  } else {
    facts.set(FactId::kWorkersMemoryGrowth, median(growth));
  }
}

}  // namespace

void measure_loader_workers(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (t.run == nullptr) {
    facts.all_missing("loader_workers",
                      "a trace says nothing of the machine and the whole run; pyrometer run does");
    return;
  }
  const Interval window = training_span(*t.run);
  const std::int64_t configured = configured_workers(*t.run);
  std::vector<Worker> workers;
  if (window.length() >= RunCounters::kLeastSpan) workers = find_workers(*t.run, window);
  if (workers.empty()) {
    facts.all_missing("loader_workers", window.length() < RunCounters::kLeastSpan
                                            ? "the steps lasted less than 4 s"
                                            : "no worker process lived for 2 s");
  } else {
    tell(workers, window, facts);
  }
  if (configured >= 0) {
    facts.set(FactId::kWorkersConfigured, static_cast<double>(configured));
  } else {
    facts.missing(FactId::kWorkersConfigured, "no data loader was seen");
  }
}

}  // namespace pyrometer::analysis
