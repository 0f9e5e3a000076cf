#include "recording/run_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "recording/schema.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using model::RecordedRun;

std::int64_t or_unknown(const Statement& s, int column) {
  return s.is_null(column) ? -1 : s.integer(column);
}

base::Error damaged(const Database& database, std::string_view table) {
  base::Error error = database.last_error("cannot read the table " + std::string(table));
  if (error.kind == base::ErrorKind::kIo) error.kind = base::ErrorKind::kFormat;
  return error;
}

Result<void> read_steps(Database& database, std::int64_t process, RecordedRun& run) {
  auto statement = database.prepare(
      "SELECT device, first, count, start_ns, end_ns, longest_ns, samples, input_wait_ns, "
      "captured, " +
      cause_columns() + " FROM step WHERE process = ? ORDER BY start_ns, device");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  model::TimeNs last_start = -1;
  while (statement->step()) {
    model::RecordedStep step;
    step.device = static_cast<std::int32_t>(statement->integer(0));
    step.index = statement->integer(1);
    step.count = std::max<std::int64_t>(0, statement->integer(2));
    step.span = {statement->integer(3), statement->integer(4)};
    step.longest = statement->integer(5);
    step.samples = or_unknown(*statement, 6);
    step.input_wait = statement->integer(7);
    step.captured = statement->integer(8) != 0;
    for (std::size_t i = 0; i < model::kCauseCount && step.captured; ++i) {
      step.causes[i] = statement->integer(9 + static_cast<int>(i));
    }
    // A step on several devices has a row for each.
    if (step.span.start != last_start) run.steps_total += step.count;
    last_start = step.span.start;
    run.steps.push_back(step);
  }
  if (statement->failed()) return base::fail(damaged(database, "step"));
  return {};
}

Result<void> read_info(Database& database, std::int64_t process, RecordedRun& run) {
  auto statement =
      database.prepare("SELECT key, value FROM info WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    run.info[std::string(statement->text(0))] = std::string(statement->text(1));
  }
  if (statement->failed()) return base::fail(damaged(database, "info"));
  return {};
}

Result<void> read_capture(Database& database, std::int64_t process, RecordedRun& run) {
  auto statement = database.prepare(
      "SELECT time_ns, is_on, reason FROM capture WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    const model::TimeNs time = statement->integer(0);
    if (!run.capture.empty()) run.capture.back().span.end = time;
    run.capture.push_back({{time, std::max(time, run.span.end)},
                           statement->integer(1) != 0,
                           std::string(statement->text(2))});
  }
  if (statement->failed()) return base::fail(damaged(database, "capture"));
  return {};
}

Result<void> read_regions(Database& database, std::int64_t process, RecordedRun& run) {
  auto statement = database.prepare(
      "SELECT type, count, total_ns, longest_ns, amount FROM region_total WHERE process = ? "
      "ORDER BY type");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    run.regions.push_back({std::string(statement->text(0)), statement->integer(1),
                           statement->integer(2), statement->integer(3), statement->integer(4)});
  }
  if (statement->failed()) return base::fail(damaged(database, "region_total"));
  return {};
}

Result<void> read_lines(Database& database, const NameTable& names, std::int64_t process,
                        RecordedRun& run) {
  auto statement = database.prepare(
      "SELECT name, samples FROM host_line WHERE process = ? ORDER BY samples DESC, name");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    const auto name = static_cast<NameId>(statement->integer(0));
    run.host_lines.emplace_back(names.text(name), statement->integer(1));
  }
  if (statement->failed()) return base::fail(damaged(database, "host_line"));
  return {};
}

Result<void> read_overhead(Database& database, std::int64_t process, RecordedRun& run) {
  auto statement = database.prepare(
      "SELECT ratio, low, high, duty, switching, windows, why_not FROM overhead WHERE process = ?");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  run.overhead.why_not = "the recording does not tell";
  if (statement->step()) {
    run.overhead.measured = !statement->is_null(0);
    run.overhead.ratio = statement->real(0);
    run.overhead.low = statement->real(1);
    run.overhead.high = statement->real(2);
    run.overhead.duty = statement->real(3);
    run.overhead.switching = statement->real(4);
    run.overhead.windows = statement->integer(5);
    run.overhead.why_not = std::string(statement->text(6));
  }
  if (statement->failed()) return base::fail(damaged(database, "overhead"));
  return {};
}

void summarise(Statement& s, std::vector<model::CounterSummary>& out) {
  model::CounterSummary row;
  row.name = std::string(s.text(0));
  row.unit = std::string(s.text(1));
  row.object = std::string(s.text(2));
  row.count = s.integer(3);
  row.first = s.real(4);
  row.last = s.real(5);
  row.min = s.real(6);
  row.max = s.real(7);
  row.mean = s.real(8);
  out.push_back(std::move(row));
}

Result<void> read_counters(Database& database, std::int64_t process, RecordedRun& run) {
  auto own = database.prepare(
      "SELECT n.text, '', 'process', count(*), "
      "(SELECT value FROM counter f WHERE f.process = c.process AND f.name = c.name "
      " ORDER BY time_ns LIMIT 1), "
      "(SELECT value FROM counter l WHERE l.process = c.process AND l.name = c.name "
      " ORDER BY time_ns DESC LIMIT 1), min(value), max(value), avg(value) "
      "FROM counter c JOIN name n ON n.id = c.name WHERE c.process = ? GROUP BY c.name "
      "ORDER BY n.text");
  if (!own) return base::fail(own.error());
  own->bind(process);
  while (own->step()) summarise(*own, run.counters);
  if (own->failed()) return base::fail(damaged(database, "counter"));
  auto common = database.prepare(
      "SELECT m.name, m.unit, m.object, count(value), "
      "(SELECT value FROM sample f WHERE f.metric = m.id AND value NOT NULL "
      " ORDER BY time_ns LIMIT 1), "
      "(SELECT value FROM sample l WHERE l.metric = m.id AND value NOT NULL "
      " ORDER BY time_ns DESC LIMIT 1), min(value), max(value), avg(value) "
      "FROM sample s JOIN metric m ON m.id = s.metric WHERE value NOT NULL GROUP BY m.id "
      "ORDER BY m.object, m.name");
  if (!common) return base::fail(common.error());
  while (common->step()) summarise(*common, run.counters);
  if (common->failed()) return base::fail(damaged(database, "sample"));
  return {};
}

std::int64_t number(std::string_view text, std::int64_t fallback) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

Result<void> read_meta(Database& database, RecordedRun& run) {
  auto statement = database.prepare("SELECT key, value FROM meta");
  if (!statement) return base::fail(statement.error());
  while (statement->step()) {
    const std::string_view key = statement->text(0);
    const std::string_view value = statement->text(1);
    if (key == "start_ns") run.span.start = number(value, 0);
    if (key == "end_ns") run.span.end = number(value, 0);
    if (key == "ended") run.ended = value == "1";
    if (key == "exit_code") run.exit_code = static_cast<std::int32_t>(number(value, -1));
    if (key == "exit_signal") run.exit_signal = static_cast<std::int32_t>(number(value, 0));
    // Of the machine; they read like properties of the process.
    if (key == "gpu_missing" || key == "gpu_advice" || key == "cores") {
      run.info["machine." + std::string(key)] = std::string(value);
    }
    if (key == "monitor_cpu_ns") run.overhead.monitor_cpu = number(value, 0);
  }
  if (statement->failed()) return base::fail(damaged(database, "meta"));
  return {};
}

}  // namespace

Result<RecordedRun> read_run(Database& database, const NameTable& names,
                             const ProcessRow& process) {
  RecordedRun run;
  run.info["gpu.capture"] = process.capture;
  if (auto ok = read_meta(database, run); !ok) return base::fail(ok.error());
  if (auto ok = read_steps(database, process.id, run); !ok) return base::fail(ok.error());
  for (const model::RecordedStep& step : run.steps) {
    run.span.end = std::max(run.span.end, step.span.end);
  }
  if (auto ok = read_info(database, process.id, run); !ok) return base::fail(ok.error());
  if (auto ok = read_capture(database, process.id, run); !ok) return base::fail(ok.error());
  if (auto ok = read_regions(database, process.id, run); !ok) return base::fail(ok.error());
  if (auto ok = read_lines(database, names, process.id, run); !ok) return base::fail(ok.error());
  if (auto ok = read_overhead(database, process.id, run); !ok) return base::fail(ok.error());
  if (auto ok = read_counters(database, process.id, run); !ok) return base::fail(ok.error());
  return run;
}

}  // namespace pyrometer::recording
