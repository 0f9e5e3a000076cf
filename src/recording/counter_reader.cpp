#include "recording/counter_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/clipped.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using model::CounterPoint;
using model::CounterSummary;
using model::CounterText;

// One series while it is read. Rows come as they were written, which is in the order of time for
// each series: sorting a day's readings would take longer than all the rest of the reading.
class Series {
 public:
  void add(model::TimeNs time, double value) {
    CounterSummary& s = summary;
    if (s.count == 0) {
      s.first = s.min = s.max = value;
    }
    s.last = value;
    s.min = std::min(s.min, value);
    s.max = std::max(s.max, value);
    sum_ += value;
    latest_ = {time, value};
    if (s.count % stride_ == 0) {
      // Room for the last one stays, which is added at the end.
      if (s.points.size() + 1 == model::kMostCounterPoints) halve();
      if (s.count % stride_ == 0) s.points.push_back(latest_);
    }
    ++s.count;
  }

  [[nodiscard]] CounterSummary finished() && {
    if (summary.count > 0) {
      summary.mean = sum_ / static_cast<double>(summary.count);
      if (summary.points.back().time != latest_.time) summary.points.push_back(latest_);
      // Passes search by time: a damaged file may hold anything.
      std::stable_sort(
          summary.points.begin(), summary.points.end(),
          [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
    }
    return std::move(summary);
  }

  CounterSummary summary;

 private:
  void halve() {
    stride_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < summary.points.size(); i += 2) {
      summary.points[kept++] = summary.points[i];
    }
    summary.points.resize(kept);
  }

  double sum_ = 0;
  std::int64_t stride_ = 1;
  CounterPoint latest_;
};

using SeriesById = std::map<std::int64_t, Series>;

void finish(SeriesById&& series, std::vector<CounterSummary>& out) {
  std::vector<CounterSummary> found;
  for (auto& [id, one] : series) {
    if (one.summary.count > 0) found.push_back(std::move(one).finished());
  }
  std::sort(found.begin(), found.end(), [](const CounterSummary& a, const CounterSummary& b) {
    return a.object != b.object ? a.object < b.object : a.name < b.name;
  });
  for (CounterSummary& one : found) out.push_back(std::move(one));
}

// What the process told of itself.
Result<void> read_own(Database& database, const NameTable& names, std::int64_t process,
                      model::RecordedRun& run, Damage& damage) {
  auto rows =
      database.prepare("SELECT name, time_ns, value FROM counter WHERE process = ? ORDER BY rowid");
  if (!rows) return base::fail(rows.error());
  rows->bind(process);
  SeriesById series;
  while (rows->step()) {
    if (!std::isfinite(rows->real(2))) {
      damage.row("counter");
      continue;
    }
    const std::int64_t id = rows->integer(0);
    auto [at, is_new] = series.try_emplace(id);
    if (is_new) {
      at->second.summary.name = std::string(names.text(clipped<NameId>(id)));
      at->second.summary.object = "process";
    }
    at->second.add(rows->integer(1), rows->real(2));
  }
  if (rows->failed()) damage.table(database, "counter", "counters are missing");
  finish(std::move(series), run.counters);
  return {};
}

struct Metric {
  std::string name, unit, object;
};

Result<std::map<std::int64_t, Metric>> read_metrics(Database& database, Damage& damage) {
  auto rows = database.prepare("SELECT id, name, unit, object FROM metric");
  if (!rows) return base::fail(rows.error());
  std::map<std::int64_t, Metric> metrics;
  while (rows->step()) {
    metrics[rows->integer(0)] = {std::string(rows->text(1)), std::string(rows->text(2)),
                                 std::string(rows->text(3))};
  }
  if (rows->failed()) damage.table(database, "metric", "metrics are missing");
  return metrics;
}

// Those of the machine, which all processes share.
Result<void> read_machine(Database& database, const std::map<std::int64_t, Metric>& metrics,
                          model::RecordedRun& run, Damage& damage) {
  auto rows = database.prepare(
      "SELECT metric, time_ns, value FROM sample WHERE value NOT NULL ORDER BY rowid");
  if (!rows) return base::fail(rows.error());
  SeriesById series;
  while (rows->step()) {
    const auto metric = metrics.find(rows->integer(0));
    if (metric == metrics.end() || !std::isfinite(rows->real(2))) {
      damage.row("sample");
      continue;
    }
    auto [at, is_new] = series.try_emplace(metric->first);
    if (is_new) {
      at->second.summary.name = metric->second.name;
      at->second.summary.unit = metric->second.unit;
      at->second.summary.object = metric->second.object;
    }
    at->second.add(rows->integer(1), rows->real(2));
  }
  if (rows->failed()) damage.table(database, "sample", "metrics are missing");
  finish(std::move(series), run.counters);
  return {};
}

Result<void> read_texts(Database& database, const std::map<std::int64_t, Metric>& metrics,
                        model::RecordedRun& run, Damage& damage) {
  constexpr std::string_view kValue = "= ";  // as the recorder marks texts that are values
  auto rows = database.prepare("SELECT metric, time_ns, reason FROM missing ORDER BY time_ns");
  if (!rows) return base::fail(rows.error());
  std::map<std::int64_t, CounterText> texts;
  while (rows->step()) {
    const auto metric = metrics.find(rows->integer(0));
    if (metric == metrics.end()) {
      damage.row("missing");
      continue;
    }
    CounterText& text = texts[metric->first];
    if (text.changes.empty()) {
      text.name = metric->second.name;
      text.object = metric->second.object;
    }
    const std::string_view told = rows->text(2);
    const bool is_value = told.starts_with(kValue);
    if (text.changes.size() == model::kMostCounterPoints) text.changes.erase(text.changes.begin());
    text.changes.push_back(
        {rows->integer(1), !is_value, std::string(is_value ? told.substr(kValue.size()) : told)});
  }
  if (rows->failed()) damage.table(database, "missing", "texts are missing");
  for (auto& [id, text] : texts) run.texts.push_back(std::move(text));
  std::sort(run.texts.begin(), run.texts.end(), [](const CounterText& a, const CounterText& b) {
    return a.object != b.object ? a.object < b.object : a.name < b.name;
  });
  return {};
}

}  // namespace

Result<void> read_counters(Database& database, const NameTable& names, std::int64_t process,
                           model::RecordedRun& run, Damage& damage) {
  if (auto ok = read_own(database, names, process, run, damage); !ok) return base::fail(ok.error());
  const auto metrics = read_metrics(database, damage);
  if (!metrics) return base::fail(metrics.error());
  if (auto ok = read_machine(database, *metrics, run, damage); !ok) return base::fail(ok.error());
  return read_texts(database, *metrics, run, damage);
}

}  // namespace pyrometer::recording
