#include "recording/reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "recording/clipped.h"
#include "recording/damage.h"
#include "recording/database.h"
#include "recording/detail_reader.h"
#include "recording/names.h"
#include "recording/open_recording.h"
#include "recording/rows.h"
#include "recording/run_reader.h"
#include "recording/schema.h"
#include "recording/time_map.h"
#include "recording/timeline_rows.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using Configs = std::unordered_map<std::uint32_t, ConfigRow>;

constexpr std::string_view kMagic = "SQLite format 3";
constexpr std::int64_t kMostMemory = std::int64_t{1} << 46U;  // bytes of one GPU
constexpr std::int32_t kMostMultiprocessors = 10'000;

Result<NameTable> read_names(Database& database, Damage& damage) {
  auto statement = database.prepare("SELECT id, text FROM name ORDER BY id");
  if (!statement) return base::fail(statement.error());
  // A file has no more names than it has room for rows.
  constexpr std::int64_t kShortestRow =
      4;  // bytes: two header bytes each of the row and its record
  const auto pages = pragma(database, "page_count");
  if (!pages) return base::fail(pages.error());
  const auto page_bytes = pragma(database, "page_size");
  if (!page_bytes) return base::fail(page_bytes.error());
  const std::int64_t most = *pages * *page_bytes / kShortestRow;
  NameTable names;
  while (statement->step()) {
    // Ids are dense as written; in a damaged file a name may come twice or be missing.
    const std::int64_t id = statement->integer(0);
    if (id < 1 || id > most) {
      damage.row("name");
      continue;
    }
    while (static_cast<std::int64_t>(names.size()) < id) {
      (void)names.intern("(lost name " + std::to_string(names.size()) + ")");
    }
    if (static_cast<std::int64_t>(names.size()) == id) {
      const auto before = names.size();
      (void)names.intern(statement->text(1));
      if (names.size() == before) {
        (void)names.intern(std::string(statement->text(1)) + " (" + std::to_string(id) + ")");
      }
    }
  }
  if (statement->failed()) damage.table(database, "name", "later names are lost");
  return names;
}

Result<Configs> read_configs(Database& database, Damage& damage) {
  auto statement = database.prepare("SELECT * FROM kernel_config");
  if (!statement) return base::fail(statement.error());
  Configs configs;
  while (statement->step()) {
    ConfigRow row;
    for (int i = 0; i < 3; ++i) {
      row.grid[i] = clipped<std::uint32_t>(statement->integer(1 + i));
      row.block[i] = clipped<std::uint32_t>(statement->integer(4 + i));
    }
    row.static_shared_bytes = clipped<std::uint32_t>(statement->integer(7));
    row.dynamic_shared_bytes = clipped<std::uint32_t>(statement->integer(8));
    row.registers_per_thread = or_unknown(*statement, 9);
    configs[clipped<std::uint32_t>(statement->integer(0))] = row;
  }
  if (statement->failed()) {
    damage.table(database, "kernel_config", "later launch configurations are unknown");
  }
  return configs;
}

bool is_rank(const ProcessRow& row) {
  constexpr std::int32_t kMostRanks = 1'000'000;
  return row.rank >= -1 && row.rank < kMostRanks && row.world_size >= -1 &&
         row.world_size <= kMostRanks && (row.world_size < 0 || row.rank < row.world_size);
}

Result<std::vector<ProcessRow>> read_processes(Database& database, Damage& damage) {
  auto statement = database.prepare("SELECT * FROM process ORDER BY id");
  if (!statement) return base::fail(statement.error());
  std::vector<ProcessRow> processes;
  while (statement->step()) {
    ProcessRow row;
    row.id = statement->integer(0);
    row.pid = clipped<std::int32_t>(statement->integer(1));
    row.parent_pid = clipped<std::int32_t>(statement->integer(2));
    row.start = statement->integer(3);
    row.end = statement->is_null(4) ? 0 : statement->integer(4);
    row.rank = or_unknown(*statement, 5);
    row.world_size = or_unknown(*statement, 6);
    row.local_rank = or_unknown(*statement, 7);
    if (!is_rank(row)) {
      damage.row("process");
      row.rank = row.world_size = row.local_rank = -1;
    }
    row.program = std::string(statement->text(8));
    row.capture = std::string(statement->text(9));
    processes.push_back(std::move(row));
  }
  if (statement->failed()) damage.table(database, "process", "later processes are missing");
  return processes;
}

Result<std::vector<DeviceRow>> read_devices(Database& database, std::int64_t process,
                                            Damage& damage) {
  auto statement = database.prepare("SELECT * FROM device WHERE process = ? ORDER BY ordinal");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  std::vector<DeviceRow> devices;
  while (statement->step()) {
    DeviceRow row;
    row.ordinal = clipped<std::int32_t>(statement->integer(1));
    row.name = std::string(statement->text(2));
    row.uuid = std::string(statement->text(3));
    row.total_memory_bytes = statement->is_null(4) ? -1 : statement->integer(4);
    row.compute_major = or_unknown(*statement, 5);
    row.compute_minor = or_unknown(*statement, 6);
    row.multiprocessors = or_unknown(*statement, 7);
    if (row.ordinal < 0 || row.total_memory_bytes > kMostMemory ||
        row.multiprocessors > kMostMultiprocessors) {
      damage.row("device");
      continue;
    }
    devices.push_back(std::move(row));
  }
  if (statement->failed()) damage.table(database, "device", "later GPUs are unknown");
  return devices;
}

Result<void> read_losses(Database& database, std::int64_t process, model::ImportStats& stats,
                         Damage& damage) {
  auto statement = database.prepare(
      "SELECT what, sum(count) FROM loss WHERE process = ? GROUP BY what ORDER BY what");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  while (statement->step()) {
    stats.add(
        "lost_" + std::string(statement->text(0)), model::StatSeverity::kDataLoss, -1,
        "records of the kind " + std::string(statement->text(0)) + " were dropped while recording",
        std::max<std::int64_t>(1, statement->integer(1)));
  }
  if (statement->failed()) damage.table(database, "loss", "more may have been lost");
  return {};
}

// Everything of one process but its rows' times.
struct Recorded {
  ProcessRow process;
  std::vector<DeviceRow> devices;
  Detail detail;
  std::shared_ptr<model::RecordedRun> run;
};

enum class Extent : std::uint8_t { kAll, kRuns };

Result<Recorded> read_process(Database& database, const NameTable& names, ProcessRow process,
                              Extent extent, Damage& damage) {
  Recorded out;
  out.process = std::move(process);
  auto devices = read_devices(database, out.process.id, damage);
  if (!devices) return base::fail(devices.error());
  out.devices = std::move(*devices);
  if (extent == Extent::kAll) {
    auto detail = read_detail(database, out.process.id, out.devices, damage);
    if (!detail) return base::fail(detail.error());
    out.detail = std::move(*detail);
  }
  auto run = read_run(database, names, out.process, out.devices, damage);
  if (!run) return base::fail(run.error());
  out.run = std::make_shared<model::RecordedRun>(std::move(*run));
  for (const DeviceRow& device : out.devices) {
    out.run->devices.push_back({device.ordinal, device.uuid});
  }
  return out;
}

// Only where there is no better word for it: nothing is left to analyse.
base::Error nothing_left(const std::string& path, const Damage& damage) {
  if (damage.first().empty()) {
    return {.kind = base::ErrorKind::kEmpty,
            .message = "the recording holds no process that trained",
            .file = path,
            .advice = "pyrometer run saw neither GPU work nor training steps"};
  }
  return {.kind = base::ErrorKind::kFormat,
          .message = "no step of the recording can be read whole: " + damage.first(),
          .file = path,
          .advice = "sqlite3's .recover may save parts of it"};
}

// What every rank kept: ranks are compared moment by moment, so one that kept nothing at a time
// takes that time from all.
std::vector<model::Interval> common_windows(const std::vector<Recorded>& ranks) {
  std::vector<model::Interval> common;
  bool first = true;
  for (const Recorded& rank : ranks) {
    const std::vector<model::Interval> own = TimeMap(rank.detail.windows).windows();
    if (own.empty()) continue;
    if (first) {
      common = own;
      first = false;
      continue;
    }
    std::vector<model::Interval> both;
    for (const model::Interval& a : common) {
      for (const model::Interval& b : own) {
        const model::Interval overlap{std::max(a.start, b.start), std::min(a.end, b.end)};
        if (overlap.length() > 0) both.push_back(overlap);
      }
    }
    common = std::move(both);
  }
  return common;
}

// Of the process's loaders; PyTorch's default where none says.
std::int64_t most_prefetched(const model::RecordedRun& run) {
  std::int64_t most = 2;
  for (const auto& [key, value] : run.info) {
    if (!key.starts_with("loader.") || !key.ends_with(".prefetch_factor")) continue;
    std::int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    most = std::max(most, number);
  }
  return most;
}

model::RankTimeline make_rank(Recorded& recorded, const NameTable& names, const Configs& configs,
                              const TimeMap& map, const std::string& path) {
  model::RankTimeline timeline =
      make_timeline({recorded.detail.rows, names, configs, recorded.process, recorded.devices,
                     most_prefetched(*recorded.run)},
                    map);
  model::RankInfo& info = timeline.info;
  info.file = path;
  info.rank = recorded.process.rank;
  info.world_size = recorded.process.world_size;
  const auto& known = recorded.run->info;
  const auto text = [&known](const char* key) {
    const auto found = known.find(key);
    return found == known.end() ? std::string() : found->second;
  };
  info.backend = text("distributed.backend");
  info.event_count = static_cast<std::int64_t>(recorded.detail.rows.size());
  for (const model::Interval& window : map.windows()) recorded.run->kept += window.length();
  timeline.run = recorded.run;
  return timeline;
}

Result<model::Timeline> read(const std::string& path, Extent extent) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  // One moment of a file that may still be growing.
  if (!database->execute("BEGIN")) return base::fail(database->last_error("cannot read"));
  Damage damage(*database);
  damage.check_length(path);
  if (auto ok = expect_plain_tables(*database); !ok) {
    return base::fail(damage.first().empty() ? ok.error() : nothing_left(path, damage));
  }
  const auto names = read_names(*database, damage);
  if (!names) return base::fail(names.error());
  const auto configs = read_configs(*database, damage);
  if (!configs) return base::fail(configs.error());
  const auto processes = read_processes(*database, damage);
  if (!processes) return base::fail(processes.error());

  std::vector<Recorded> ranks;
  for (const ProcessRow& process : *processes) {
    auto one = read_process(*database, *names, process, extent, damage);
    if (!one) return base::fail(one.error());
    const bool took_part = !one->detail.rows.activities.empty() || !one->run->steps.empty();
    if ((took_part || processes->size() == 1) && !one->detail.lost_all) {
      ranks.push_back(std::move(*one));
    }
  }
  if (ranks.empty()) return base::fail(nothing_left(path, damage));
  std::sort(ranks.begin(), ranks.end(), [](const Recorded& a, const Recorded& b) {
    const auto key = [](const Recorded& r) {
      return r.process.rank < 0 ? std::numeric_limits<std::int32_t>::max() : r.process.rank;
    };
    return key(a) != key(b) ? key(a) < key(b) : a.process.id < b.process.id;
  });
  const TimeMap map(common_windows(ranks));
  model::Timeline timeline;
  for (Recorded& rank : ranks) {
    model::RankTimeline one = make_rank(rank, *names, *configs, map, path);
    if (auto ok = read_losses(*database, rank.process.id, one.stats, damage); !ok) {
      return base::fail(ok.error());
    }
    const bool alone = ranks.size() == 1;
    one.info.source = one.info.rank >= 0 ? model::RankSource::kDistributedInfo
                      : alone            ? model::RankSource::kSingle
                                         : model::RankSource::kOrder;
    if (one.info.rank < 0) one.info.rank = static_cast<std::int32_t>(timeline.ranks.size());
    timeline.ranks.push_back(std::move(one));
  }
  timeline.ranks.front().stats.merge(damage.stats());
  return timeline;
}

}  // namespace

bool is_recording(std::string_view head) { return head.starts_with(kMagic); }

Result<model::Timeline> read_recording(const std::string& path) { return read(path, Extent::kAll); }

Result<model::Timeline> read_runs(const std::string& path) { return read(path, Extent::kRuns); }

}  // namespace pyrometer::recording
