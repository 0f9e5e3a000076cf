#include "recording/trial_reader.h"

#include <algorithm>
#include <utility>

#include "recording/open_recording.h"

namespace pyrometer::recording {
namespace {

using base::Result;

constexpr std::string_view kOverride = "override.";

// Those with steps, most steps first. Without a step, a process may still tell why an override
// could not be applied.
Result<std::vector<TrialProcess>> read_processes(Database& database) {
  auto statement = database.prepare(
      "SELECT t.process, count(*) AS steps, p.rank, p.world_size FROM trial_step t "
      "LEFT JOIN process p ON p.id = t.process GROUP BY t.process ORDER BY steps DESC, t.process");
  if (!statement) return base::fail(statement.error());
  std::vector<TrialProcess> out;
  while (statement->step()) {
    const auto number = [&statement](int column) {
      constexpr std::int64_t kMost = 1 << 24;
      const std::int64_t value = statement->is_null(column) ? -1 : statement->integer(column);
      return value >= 0 && value <= kMost ? static_cast<std::int32_t>(value) : -1;
    };
    out.push_back({.id = statement->integer(0), .rank = number(2), .world_size = number(3)});
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the trial"));
  if (!out.empty()) return out;
  auto any = database.prepare(
      "SELECT min(process) FROM info WHERE key LIKE 'override.%' OR key LIKE 'trial.%'");
  if (!any) return base::fail(any.error());
  if (any->step() && !any->is_null(0)) out.push_back({.id = any->integer(0)});
  return out;
}

Result<void> read_steps(Database& database, TrialProcess& out) {
  auto statement = database.prepare(
      "SELECT step, start_ns, end_ns, variant, samples FROM trial_step WHERE process = ? "
      "ORDER BY start_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(out.id);
  while (statement->step()) {
    TrialStep step{.index = statement->integer(0),
                   .span = {statement->integer(1), statement->integer(2)},
                   .variant = std::string(statement->text(3)),
                   .samples = statement->is_null(4) ? -1 : statement->integer(4)};
    constexpr model::TimeNs kMost = 1LL << 60;
    const bool possible = step.span.start >= 0 && step.span.end > step.span.start &&
                          step.span.end < kMost && step.samples < kMost;
    if (possible) out.steps.push_back(std::move(step));
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the trial's steps"));
  return {};
}

Result<void> read_losses(Database& database, TrialProcess& out) {
  auto statement = database.prepare(
      "SELECT c.value, c.time_ns FROM counter c JOIN name n ON n.id = c.name "
      "WHERE n.text = 'loss' AND c.process = ? ORDER BY c.time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(out.id);
  while (statement->step()) {
    out.losses.push_back(statement->real(0));
    out.loss_times.push_back(statement->integer(1));
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the losses"));
  auto memory = database.prepare(
      "SELECT max(c.value) FROM counter c JOIN name n ON n.id = c.name "
      "WHERE n.text = 'memory.allocated_peak_bytes' AND c.process = ?");
  if (!memory) return base::fail(memory.error());
  memory->bind(out.id);
  if (memory->step() && !memory->is_null(0)) out.peak_memory = memory->real(0);
  return {};
}

Result<void> read_info(Database& database, TrialProcess& out) {
  auto statement =
      database.prepare("SELECT key, value FROM info WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(out.id);
  while (statement->step()) {
    const std::string key(statement->text(0));
    if (key.starts_with(kOverride)) {
      out.overrides[key.substr(kOverride.size())] = std::string(statement->text(1));
    }
    if (key == "loss.not_finite") out.loss_not_finite = std::string(statement->text(1));
    if (key == "trial.seed.program") out.program_seeds = true;
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the trial"));
  return {};
}

}  // namespace

Result<TrialRecord> read_trial(const std::string& path) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  auto processes = read_processes(*database);
  if (!processes) return base::fail(processes.error());
  TrialRecord out;
  if (processes->empty()) return out;
  for (TrialProcess& one : *processes) {
    if (auto ok = read_steps(*database, one); !ok) return base::fail(ok.error());
    if (auto ok = read_losses(*database, one); !ok) return base::fail(ok.error());
    if (auto ok = read_info(*database, one); !ok) return base::fail(ok.error());
  }
  static_cast<TrialProcess&>(out) = processes->front();
  out.processes = std::move(*processes);
  std::erase_if(out.processes, [](const TrialProcess& one) { return one.steps.empty(); });
  std::sort(out.processes.begin(), out.processes.end(),
            [](const TrialProcess& a, const TrialProcess& b) {
              return std::pair(a.rank, a.id) < std::pair(b.rank, b.id);
            });
  return out;
}

}  // namespace pyrometer::recording
