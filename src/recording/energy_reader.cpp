#include "recording/energy_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "model/run_totals.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using model::EnergySeries;
using model::Interval;
using model::TimeNs;

// Adds the growth of one counter up.
class Meter {
 public:
  Meter(EnergySeries& series, Interval steps) : series_(series), steps_(steps) {}

  void add(TimeNs time, double joules) {
    if (!started_) series_.span = {time, time};
    if (started_ && joules < joules_) series_.missing = "the meter began anew during the run";
    if (started_ && joules >= joules_ && time > time_) grow(time, joules - joules_);
    started_ = true;
    time_ = time;
    joules_ = joules;
  }

 private:
  void grow(TimeNs time, double growth) {
    series_.joules += growth;
    series_.span.end = time;
    const Interval within{std::max(time_, steps_.start), std::min(time, steps_.end)};
    if (within.length() <= 0) return;
    // Between two readings the power counts as even.
    const double joules =
        growth * static_cast<double>(within.length()) / static_cast<double>(time - time_);
    series_.step_joules += joules;
    add_window({within, joules});
    if (series_.step_span.length() == 0) series_.step_span.start = within.start;
    series_.step_span.end = within.end;
  }

  void add_window(const model::EnergyWindow& window) {
    std::vector<model::EnergyWindow>& all = series_.windows;
    if (joined_ > 0) {  // the last one is not as long as the others yet
      all.back().span.end = window.span.end;
      all.back().joules += window.joules;
    } else {
      all.push_back(window);
    }
    joined_ = (joined_ + 1) % each_;
    if (joined_ > 0 || all.size() < model::kMostEnergyWindows) return;
    for (std::size_t i = 0; 2 * i + 1 < all.size(); ++i) {
      const model::EnergyWindow& first = all[2 * i];
      const model::EnergyWindow& second = all[2 * i + 1];
      all[i] = {{first.span.start, second.span.end}, first.joules + second.joules};
    }
    all.resize(all.size() / 2);
    each_ *= 2;
  }

  EnergySeries& series_;
  Interval steps_;
  std::size_t each_ = 1;    // stretches between readings that a window holds
  std::size_t joined_ = 0;  // of the last window, so far; 0: all of them
  bool started_ = false;
  TimeNs time_ = 0;    // of the last reading
  double joules_ = 0;  // the same
};

// "gpu 0" of each UUID that the machine's GPUs were seen to have.
Result<std::map<std::string, std::string>> objects_of(Database& database, Damage& damage) {
  auto statement = database.prepare(
      "SELECT m.object, r.reason FROM missing AS r JOIN metric AS m ON m.id = r.metric "
      "WHERE m.name = 'gpu.uuid' ORDER BY r.time_ns");
  if (!statement) return base::fail(statement.error());
  std::map<std::string, std::string> objects;
  constexpr std::string_view kText = "= ";
  while (statement->step()) {
    std::string_view text = statement->text(1);
    if (!text.starts_with(kText)) continue;
    text.remove_prefix(kText.size());
    objects[std::string(text)] = std::string(statement->text(0));
  }
  if (statement->failed()) damage.table(database, "missing", "which GPU is which is not known");
  return objects;
}

Result<std::string> last_reason(Database& database, const std::string& metric,
                                const std::string& object) {
  auto statement = database.prepare(
      "SELECT r.reason FROM missing AS r JOIN metric AS m ON m.id = r.metric "
      "WHERE m.name = ? AND m.object = ? ORDER BY r.time_ns DESC LIMIT 1");
  if (!statement) return base::fail(statement.error());
  statement->bind(metric).bind(object);
  if (statement->step() && !statement->text(0).empty()) return std::string(statement->text(0));
  return std::string("the recording has no readings of it");
}

// A meter of a series, with the metric that it is recorded as.
struct Reading {
  EnergySeries series;
  std::string metric;
};

Result<std::map<std::int64_t, std::size_t>> metric_ids(Database& database,
                                                       const std::vector<Reading>& readings) {
  auto statement = database.prepare("SELECT id, name, object FROM metric WHERE unit = 'J'");
  if (!statement) return base::fail(statement.error());
  std::map<std::int64_t, std::size_t> ids;  // position in `readings`
  while (statement->step()) {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const Reading& reading = readings[i];
      if (!reading.series.missing.empty() || reading.metric != statement->text(1) ||
          reading.series.object != statement->text(2)) {
        continue;
      }
      ids[statement->integer(0)] = i;
    }
  }
  return ids;
}

// One pass over all samples: their table is the largest of a long recording, and has no index. They
// lie in the order in which they were taken.
Result<void> add_up(Database& database, const model::RecordedRun& run,
                    std::vector<Reading>& readings, Damage& damage) {
  const auto ids = metric_ids(database, readings);
  if (!ids) return base::fail(ids.error());
  if (ids->empty()) return {};
  std::string list;
  for (const auto& [id, position] : *ids) {
    list += (list.empty() ? "" : ", ") + std::to_string(id);
  }
  auto statement = database.prepare("SELECT metric, time_ns, value FROM sample WHERE metric IN (" +
                                    list + ") AND value NOT NULL ORDER BY rowid");
  if (!statement) return base::fail(statement.error());
  const Interval steps = model::totals_of(run).step_span;
  std::vector<Meter> meters;
  meters.reserve(readings.size());
  for (Reading& reading : readings) meters.emplace_back(reading.series, steps);
  while (statement->step()) {
    const TimeNs time = statement->integer(1);
    const double joules = statement->real(2);
    constexpr double kMost = 1e15;
    if (!std::isfinite(joules) || joules < 0 || joules > kMost) {
      damage.row("sample");
      continue;
    }
    const auto at = ids->find(statement->integer(0));
    if (at == ids->end() || time < run.span.start || time > run.span.end) continue;
    meters[at->second].add(time, joules);
  }
  if (statement->failed()) damage.table(database, "sample", "later energy is unknown");
  return {};
}

Result<void> explain(Database& database, Reading& reading) {
  EnergySeries& series = reading.series;
  if (series.missing.empty() && series.span.length() == 0) {
    if (series.span.start != 0) {
      series.missing = "it was read once only";
    } else {
      auto reason = last_reason(database, reading.metric, series.object);
      if (!reason) return base::fail(reason.error());
      series.missing = std::move(*reason);
    }
  }
  if (series.missing.empty()) return {};
  series.joules = series.step_joules = 0;
  series.span = series.step_span = {};
  series.windows.clear();
  return {};
}

}  // namespace

Result<void> read_energy(Database& database, const std::vector<DeviceRow>& devices,
                         model::RecordedRun& run, Damage& damage) {
  auto objects = objects_of(database, damage);
  if (!objects) return base::fail(objects.error());
  std::vector<Reading> readings;
  for (const DeviceRow& device : devices) {
    EnergySeries series{.device = device.ordinal};
    if (const auto found = objects->find(device.uuid); found != objects->end()) {
      series.object = found->second;
    } else {
      series.missing = "which of the machine's GPUs this is, is not known";
    }
    series.meter = "counter";
    readings.push_back({series, "gpu.energy"});
    series.meter = "polled";
    readings.push_back({std::move(series), "gpu.energy_polled"});
  }
  readings.push_back({{.meter = "cpu", .object = "host"}, "host.energy_cpu"});
  readings.push_back({{.meter = "memory", .object = "host"}, "host.energy_memory"});
  if (auto ok = add_up(database, run, readings, damage); !ok) return ok;
  for (Reading& reading : readings) {
    if (auto ok = explain(database, reading); !ok) return ok;
    run.energy.push_back(std::move(reading.series));
  }
  return {};
}

}  // namespace pyrometer::recording
