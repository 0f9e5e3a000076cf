#include "recording/run_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "recording/clipped.h"
#include "recording/counter_reader.h"
#include "recording/energy_reader.h"
#include "recording/schema.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using model::RecordedRun;

// The causes of a captured step sum to its span: what does not was not written so.
bool is_step(const model::RecordedStep& step, const Damage& damage) {
  constexpr std::int64_t kMost = 1'000'000'000;  // steps of one row, and samples of one step
  if (!damage.is_span(step.span.start, step.span.end) || step.count > kMost ||
      step.samples > kMost || !damage.is_length(step.longest) ||
      !damage.is_length(step.input_wait)) {
    return false;
  }
  if (!step.captured) return true;
  std::int64_t left = step.span.length();
  for (const model::DurationNs cause : step.causes) {
    if (cause < 0 || cause > left) return false;
    left -= cause;
  }
  return left == 0;
}

Result<void> read_steps(Database& database, std::int64_t process, RecordedRun& run,
                        Damage& damage) {
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
    step.samples = statement->is_null(6) ? -1 : statement->integer(6);
    step.input_wait = statement->integer(7);
    step.captured = statement->integer(8) != 0;
    for (std::size_t i = 0; i < model::kCauseCount && step.captured; ++i) {
      step.causes[i] = statement->integer(9 + static_cast<int>(i));
    }
    if (!is_step(step, damage)) {
      damage.row("step");
      continue;
    }
    // A step on several devices has a row for each.
    if (step.span.start != last_start) run.steps_total += step.count;
    last_start = step.span.start;
    run.steps.push_back(step);
  }
  if (statement->failed()) damage.table(database, "step", "later steps are missing");
  return {};
}

Result<void> read_info(Database& database, std::int64_t process, RecordedRun& run, Damage& damage) {
  auto statement =
      database.prepare("SELECT key, value FROM info WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    run.info[std::string(statement->text(0))] = std::string(statement->text(1));
  }
  if (statement->failed()) damage.table(database, "info", "later settings are unknown");
  return {};
}

Result<void> read_capture(Database& database, std::int64_t process, RecordedRun& run,
                          Damage& damage) {
  auto statement = database.prepare(
      "SELECT time_ns, is_on, reason FROM capture WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    const model::TimeNs time = statement->integer(0);
    if (!damage.is_time(time)) {
      damage.row("capture");
      continue;
    }
    if (!run.capture.empty()) run.capture.back().span.end = time;
    run.capture.push_back({{time, std::max(time, run.span.end)},
                           statement->integer(1) != 0,
                           std::string(statement->text(2))});
  }
  if (statement->failed()) damage.table(database, "capture", "later switches are unknown");
  return {};
}

Result<void> read_regions(Database& database, std::int64_t process, RecordedRun& run,
                          Damage& damage) {
  auto statement = database.prepare(
      "SELECT type, count, total_ns, longest_ns, amount FROM region_total WHERE process = ? "
      "ORDER BY type");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    const model::RegionTotal region{std::string(statement->text(0)), statement->integer(1),
                                    statement->integer(2), statement->integer(3),
                                    statement->integer(4)};
    if (region.count < 0 || !damage.is_length(region.total) || !damage.is_length(region.longest) ||
        region.amount < -1) {
      damage.row("region_total");
      continue;
    }
    run.regions.push_back(region);
  }
  if (statement->failed())
    damage.table(database, "region_total", "more kinds of host time are missing");
  return {};
}

Result<void> read_lines(Database& database, const NameTable& names, std::int64_t process,
                        RecordedRun& run, Damage& damage) {
  auto statement = database.prepare(
      "SELECT name, samples FROM host_line WHERE process = ? ORDER BY samples DESC, name");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    const auto name = clipped<NameId>(statement->integer(0));
    if (statement->integer(1) < 0) {
      damage.row("host_line");
      continue;
    }
    run.host_lines.emplace_back(names.text(name), statement->integer(1));
  }
  if (statement->failed()) damage.table(database, "host_line", "more lines are missing");
  return {};
}

Result<void> read_blocking_lines(Database& database, const NameTable& names, std::int64_t process,
                                 RecordedRun& run, Damage& damage) {
  auto statement = database.prepare(
      "SELECT name, count, total_ns, longest_ns FROM blocking_line WHERE process = ? "
      "ORDER BY total_ns DESC, name");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  constexpr std::int64_t kMostCalls = 1'000'000'000;
  while (statement->step()) {
    const std::string_view text = names.text(clipped<NameId>(statement->integer(0)));
    const std::size_t space = text.find(' ');
    const model::BlockingLine call{std::string(text.substr(0, space)),
                                   space == text.npos ? "-" : std::string(text.substr(space + 1)),
                                   statement->integer(1), statement->integer(2),
                                   statement->integer(3)};
    if (call.count < 1 || call.count > kMostCalls || !damage.is_length(call.total) ||
        call.longest < 0 || call.longest > call.total) {
      damage.row("blocking_line");
      continue;
    }
    run.blocking_lines.push_back(call);
  }
  if (statement->failed()) damage.table(database, "blocking_line", "more calls are missing");
  return {};
}

bool is_overhead(const model::OverheadEstimate& estimate) {
  constexpr double kMost = 1000;  // times as slow
  const bool ratios = std::abs(estimate.ratio) <= kMost && std::abs(estimate.low) <= kMost &&
                      std::abs(estimate.high) <= kMost && std::abs(estimate.switching) <= kMost;
  return ratios && estimate.duty >= 0 && estimate.duty <= 1 && estimate.windows >= 0;
}

Result<void> read_overhead(Database& database, std::int64_t process, RecordedRun& run,
                           Damage& damage) {
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
    if (!is_overhead(run.overhead)) {
      damage.row("overhead");
      run.overhead = {.why_not = "the recording's figure cannot be"};
    }
  }
  if (statement->failed()) damage.table(database, "overhead", "the cost of watching is unknown");
  return {};
}

std::int64_t number(std::string_view text, std::int64_t fallback) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

Result<void> read_meta(Database& database, RecordedRun& run, Damage& damage) {
  auto statement = database.prepare("SELECT key, value FROM meta");
  if (!statement) return base::fail(statement.error());
  while (statement->step()) {
    const std::string_view key = statement->text(0);
    const std::string_view value = statement->text(1);
    if (key == "start_ns") run.span.start = number(value, -1);
    if (key == "end_ns") run.span.end = number(value, -1);
    if (key == "ended") run.ended = value == "1";
    if (key == "exit_code") run.exit_code = static_cast<std::int32_t>(number(value, -1));
    if (key == "exit_signal") run.exit_signal = static_cast<std::int32_t>(number(value, 0));
    // Of the machine; they read like properties of the process.
    if (key == "gpu_missing" || key == "gpu_advice" || key == "gpu_none" ||
        key == "cuda_visible_devices" || key == "cores") {
      run.info["machine." + std::string(key)] = std::string(value);
    }
    if (key == "monitor_cpu_ns") run.overhead.monitor_cpu = number(value, 0);
  }
  if (statement->failed()) damage.table(database, "meta", "facts about the run are missing");
  return {};
}

}  // namespace

Result<RecordedRun> read_run(Database& database, const NameTable& names, const ProcessRow& process,
                             const std::vector<DeviceRow>& devices, Damage& damage) {
  RecordedRun run;
  run.info["gpu.capture"] = process.capture;
  if (auto ok = read_meta(database, run, damage); !ok) return base::fail(ok.error());
  if (run.span.start <= 0 || !damage.is_time(run.span.start)) {
    if (run.span.start != 0) damage.row("meta");
    run.span.start = damage.is_time(process.start) ? process.start : damage.run().start;
  }
  if (!damage.is_span(run.span.start, run.span.end)) {
    if (run.span.end != 0) damage.row("meta");
    run.span.end = run.span.start;  // until the steps below tell more
  }
  if (auto ok = read_steps(database, process.id, run, damage); !ok) return base::fail(ok.error());
  for (const model::RecordedStep& step : run.steps) {
    run.span.end = std::max(run.span.end, step.span.end);
  }
  if (auto ok = read_info(database, process.id, run, damage); !ok) return base::fail(ok.error());
  if (auto ok = read_capture(database, process.id, run, damage); !ok) return base::fail(ok.error());
  if (auto ok = read_regions(database, process.id, run, damage); !ok) return base::fail(ok.error());
  if (auto ok = read_lines(database, names, process.id, run, damage); !ok)
    return base::fail(ok.error());
  if (auto ok = read_blocking_lines(database, names, process.id, run, damage); !ok)
    return base::fail(ok.error());
  if (auto ok = read_overhead(database, process.id, run, damage); !ok)
    return base::fail(ok.error());
  run.pid = process.pid;
  if (auto ok = read_counters(database, names, process.id, run, damage); !ok)
    return base::fail(ok.error());
  if (auto ok = read_energy(database, devices, run, damage); !ok) return base::fail(ok.error());
  return run;
}

}  // namespace pyrometer::recording
