#include "recording/trial_reader.h"

#include <algorithm>
#include <cmath>

#include "recording/open_recording.h"

namespace pyrometer::recording {
namespace {

using base::Result;

constexpr std::string_view kOverride = "override.";

Result<std::int64_t> leading_process(Database& database) {
  auto statement = database.prepare(
      "SELECT process, count(*) AS steps FROM trial_step GROUP BY process "
      "ORDER BY steps DESC, process LIMIT 1");
  if (!statement) return base::fail(statement.error());
  if (statement->step()) return statement->integer(0);
  if (statement->failed()) return base::fail(database.last_error("cannot read the trial"));
  // Without a step, a process may still tell why an override could not be applied.
  auto any = database.prepare(
      "SELECT min(process) FROM info WHERE key LIKE 'override.%' OR key LIKE 'trial.%'");
  if (!any) return base::fail(any.error());
  return any->step() && !any->is_null(0) ? any->integer(0) : -1;
}

Result<void> read_steps(Database& database, std::int64_t process, TrialRecord& out) {
  auto statement = database.prepare(
      "SELECT step, start_ns, end_ns, variant, samples FROM trial_step WHERE process = ? "
      "ORDER BY start_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
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

Result<void> read_losses(Database& database, std::int64_t process, TrialRecord& out) {
  auto statement = database.prepare(
      "SELECT c.value FROM counter c JOIN name n ON n.id = c.name "
      "WHERE n.text = 'loss' AND c.process = ? ORDER BY c.time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) out.losses.push_back(statement->real(0));
  if (statement->failed()) return base::fail(database.last_error("cannot read the losses"));
  auto memory = database.prepare(
      "SELECT max(c.value) FROM counter c JOIN name n ON n.id = c.name "
      "WHERE n.text = 'memory.allocated_peak_bytes' AND c.process = ?");
  if (!memory) return base::fail(memory.error());
  memory->bind(process);
  if (memory->step() && !memory->is_null(0)) out.peak_memory = memory->real(0);
  return {};
}

Result<void> read_info(Database& database, std::int64_t process, TrialRecord& out) {
  auto statement =
      database.prepare("SELECT key, value FROM info WHERE process = ? ORDER BY time_ns");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
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
  const Result<std::int64_t> process = leading_process(*database);
  if (!process) return base::fail(process.error());
  TrialRecord out;
  if (*process < 0) return out;
  if (auto ok = read_steps(*database, *process, out); !ok) return base::fail(ok.error());
  if (auto ok = read_losses(*database, *process, out); !ok) return base::fail(ok.error());
  if (auto ok = read_info(*database, *process, out); !ok) return base::fail(ok.error());
  return out;
}

}  // namespace pyrometer::recording
