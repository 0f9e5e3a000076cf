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
    series_.step_joules +=
        growth * static_cast<double>(within.length()) / static_cast<double>(time - time_);
    if (series_.step_span.length() == 0) series_.step_span.start = within.start;
    series_.step_span.end = within.end;
  }

  EnergySeries& series_;
  Interval steps_;
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

Result<void> read_series(Database& database, const std::string& metric,
                         const model::RecordedRun& run, Interval steps, EnergySeries& series,
                         Damage& damage) {
  auto statement = database.prepare(
      "SELECT s.time_ns, s.value FROM sample AS s JOIN metric AS m ON m.id = s.metric "
      "WHERE m.name = ? AND m.object = ? AND s.value NOT NULL ORDER BY s.time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(metric).bind(series.object);
  Meter meter(series, steps);
  while (statement->step()) {
    const TimeNs time = statement->integer(0);
    const double joules = statement->real(1);
    constexpr double kMost = 1e15;
    if (!std::isfinite(joules) || joules < 0 || joules > kMost) {
      damage.row("sample");
      continue;
    }
    if (time >= run.span.start && time <= run.span.end) meter.add(time, joules);
  }
  if (statement->failed()) damage.table(database, "sample", "later energy is unknown");
  if (!series.missing.empty() || series.span.length() > 0) return {};
  auto reason = last_reason(database, metric, series.object);
  if (!reason) return base::fail(reason.error());
  series.missing = std::move(*reason);
  if (series.span.start != 0) series.missing = "it was read once only";
  return {};
}

}  // namespace

Result<void> read_energy(Database& database, const std::vector<DeviceRow>& devices,
                         model::RecordedRun& run, Damage& damage) {
  const Interval steps = model::totals_of(run).step_span;
  auto objects = objects_of(database, damage);
  if (!objects) return base::fail(objects.error());
  const auto add = [&](EnergySeries series, const std::string& metric) -> Result<void> {
    Result<void> ok;
    if (series.missing.empty()) ok = read_series(database, metric, run, steps, series, damage);
    if (!series.missing.empty()) {
      series.joules = series.step_joules = 0;
      series.span = series.step_span = {};
    }
    run.energy.push_back(std::move(series));
    return ok;
  };
  for (const DeviceRow& device : devices) {
    const auto found = objects->find(device.uuid);
    EnergySeries series{.device = device.ordinal};
    if (found == objects->end()) {
      series.missing = "which of the machine's GPUs this is, is not known";
    } else {
      series.object = found->second;
    }
    series.meter = "counter";
    if (auto ok = add(series, "gpu.energy"); !ok) return ok;
    series.meter = "polled";
    if (auto ok = add(series, "gpu.energy_polled"); !ok) return ok;
  }
  if (auto ok = add({.meter = "cpu", .object = "host"}, "host.energy_cpu"); !ok) return ok;
  return add({.meter = "memory", .object = "host"}, "host.energy_memory");
}

}  // namespace pyrometer::recording
