#include "recording/progress.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "recording/clipped.h"
#include "recording/database.h"
#include "recording/open_recording.h"
#include "recording/schema.h"

namespace pyrometer::recording {
namespace {

using base::Result;

constexpr model::TimeNs kLast = std::numeric_limits<model::TimeNs>::max();

Result<std::map<std::int64_t, Progress>> read_processes(Database& database,
                                                        std::optional<model::TimeNs> at) {
  auto statement = database.prepare(
      "SELECT id, pid, rank FROM process WHERE start_ns <= ?1 AND (end_ns IS NULL OR end_ns > ?1)");
  if (!statement) return base::fail(statement.error());
  statement->bind(at.value_or(kLast));
  std::map<std::int64_t, Progress> processes;
  while (statement->step()) {
    Progress& progress = processes[statement->integer(0)];
    progress.pid = clipped<std::int32_t>(statement->integer(1));
    progress.rank = statement->is_null(2) ? -1 : clipped<std::int32_t>(statement->integer(2));
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the processes"));
  return processes;
}

// What is gathered of a process, newest row first.
struct Tally {
  std::int64_t newest_end = -1;
  std::int64_t last_start = -1;
  std::int64_t steps = 0;    // of the latest, on one device
  std::int64_t time = 0;     // of them
  std::int64_t samples = 0;  // -1: not known for all
};

constexpr std::int64_t kLatest = 10'000'000'000;    // ns of steps that speed is told from
constexpr std::int64_t kWatched = 120'000'000'000;  // and causes: the GPU is not watched always

void add_row(Statement& row, Progress& progress, Tally& tally) {
  const std::int64_t first = row.integer(1);
  const std::int64_t count = row.integer(2);
  const std::int64_t start = row.integer(3);
  const std::int64_t end = row.integer(4);
  if (end <= start || count < 0) return;
  if (tally.newest_end < 0) tally.newest_end = end;
  progress.steps = std::max(progress.steps, first + count);
  // A step on several devices has a row for each.
  if (count > 0 && start != tally.last_start && tally.newest_end - end <= kLatest) {
    tally.steps += count;
    tally.time += end - start;
    const bool is_told = !row.is_null(5) && tally.samples >= 0;
    tally.samples = is_told ? tally.samples + row.integer(5) : -1;
  }
  tally.last_start = start;
  if (row.integer(6) == 0 || tally.newest_end - end > kWatched) return;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    progress.causes[i] +=
        std::clamp<std::int64_t>(row.integer(7 + static_cast<int>(i)), 0, end - start);
  }
}

Result<void> read_steps(Database& database, std::optional<model::TimeNs> at,
                        std::map<std::int64_t, Progress>& processes) {
  auto statement = database.prepare(
      "SELECT process, first, count, start_ns, end_ns, samples, captured, " + cause_columns() +
      " FROM step WHERE end_ns <= ? ORDER BY rowid DESC LIMIT 4096");
  if (!statement) return base::fail(statement.error());
  statement->bind(at.value_or(kLast));
  std::map<std::int64_t, Tally> tallies;
  while (statement->step()) {
    const auto found = processes.find(statement->integer(0));
    if (found != processes.end()) add_row(*statement, found->second, tallies[found->first]);
  }
  if (statement->failed()) return base::fail(database.last_error("cannot read the steps"));
  for (const auto& [id, tally] : tallies) {
    Progress& progress = processes.at(id);
    if (tally.steps <= 0) continue;
    progress.step_ns = tally.time / tally.steps;
    constexpr double kNsPerSecond = 1e9;
    if (tally.samples > 0 && tally.time > 0) {
      progress.samples_per_second =
          static_cast<double>(tally.samples) * kNsPerSecond / static_cast<double>(tally.time);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Progress>> read_progress(const std::string& path,
                                            std::optional<model::TimeNs> at) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  // One moment of a file that grows.
  if (!database->execute("BEGIN")) return base::fail(database->last_error("cannot read"));
  auto processes = read_processes(*database, at);
  if (!processes) return base::fail(processes.error());
  if (auto ok = read_steps(*database, at, *processes); !ok) return base::fail(ok.error());
  std::vector<Progress> told;
  for (auto& [id, progress] : *processes) told.push_back(progress);
  return told;
}

}  // namespace pyrometer::recording
