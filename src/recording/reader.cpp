#include "recording/reader.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "recording/database.h"
#include "recording/names.h"
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

base::Error damaged(const Database& database, std::string_view table) {
  base::Error error = database.last_error("cannot read the table " + std::string(table));
  if (error.kind == base::ErrorKind::kIo) error.kind = base::ErrorKind::kFormat;
  return error;
}

// A file from anywhere: a number is clipped to what its column can hold.
template <typename T>
T clipped(std::int64_t value) {
  using Limits = std::numeric_limits<T>;
  return static_cast<T>(std::clamp<std::int64_t>(value, static_cast<std::int64_t>(Limits::min()),
                                                 sizeof(T) == sizeof(std::int64_t)
                                                     ? std::numeric_limits<std::int64_t>::max()
                                                     : static_cast<std::int64_t>(Limits::max())));
}

std::int32_t or_unknown(const Statement& s, int column) {
  return s.is_null(column) ? -1 : clipped<std::int32_t>(s.integer(column));
}

Result<std::int64_t> pragma(Database& database, const char* name) {
  auto statement = database.prepare(std::string("PRAGMA ") + name);
  if (!statement) return base::fail(statement.error());
  if (!statement->step()) return base::fail(damaged(database, "schema"));
  return statement->integer(0);
}

Result<Database> open_recording(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) {
    return base::fail(
        {.kind = base::ErrorKind::kNotFound, .message = "no such file", .file = path});
  }
  auto database = Database::open(path, OpenMode::kRead);
  if (!database) return base::fail(database.error());
  auto id = pragma(*database, "application_id");
  if (!id) {
    // The write-ahead log needs a file beside the recording; where that cannot be, do without.
    auto plain = Database::open(path, OpenMode::kReadOnlyMedium);
    if (!plain) return base::fail(id.error());
    auto again = pragma(*plain, "application_id");
    if (!again) return base::fail(id.error());
    id = again;
    database = std::move(plain);
  }
  if (*id != kApplicationId) {
    return base::fail({.kind = base::ErrorKind::kFormat,
                       .message = "an SQLite file, but no recording of pyrometer",
                       .file = path,
                       .expected = "a .pyro file as pyrometer run writes it"});
  }
  const auto version = pragma(*database, "user_version");
  if (!version) return base::fail(version.error());
  if (*version > kSchemaVersion || *version < 1) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "recorded by another version of pyrometer (schema " +
                                  std::to_string(*version) + ")",
                       .file = path,
                       .expected = "schema " + std::to_string(kSchemaVersion),
                       .advice = "Use the version that recorded it, or a newer one"});
  }
  return database;
}

Result<NameTable> read_names(Database& database) {
  auto statement = database.prepare("SELECT id, text FROM name ORDER BY id");
  if (!statement) return base::fail(statement.error());
  NameTable names;
  while (statement->step()) {
    // Ids are dense as written; in a damaged file a name may come twice or be missing.
    const std::int64_t id = statement->integer(0);
    constexpr std::int64_t kMost = 10'000'000;
    if (id < 1 || id > kMost) continue;
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
  if (statement->failed()) return base::fail(damaged(database, "name"));
  return names;
}

Result<Configs> read_configs(Database& database) {
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
  if (statement->failed()) return base::fail(damaged(database, "kernel_config"));
  return configs;
}

Result<std::vector<ProcessRow>> read_processes(Database& database) {
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
    row.program = std::string(statement->text(8));
    row.capture = std::string(statement->text(9));
    processes.push_back(std::move(row));
  }
  if (statement->failed()) return base::fail(damaged(database, "process"));
  return processes;
}

Result<std::vector<DeviceRow>> read_devices(Database& database, std::int64_t process) {
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
    devices.push_back(std::move(row));
  }
  if (statement->failed()) return base::fail(damaged(database, "device"));
  return devices;
}

Result<std::vector<model::Interval>> read_windows(Database& database, std::int64_t process) {
  auto statement = database.prepare(
      "SELECT start_ns, end_ns FROM kept_window WHERE process = ? AND why <> 'slowest'");
  if (!statement) return base::fail(statement.error());
  statement->bind(process);
  std::vector<model::Interval> windows;
  while (statement->step()) windows.push_back({statement->integer(0), statement->integer(1)});
  if (statement->failed()) return base::fail(damaged(database, "kept_window"));
  return windows;
}

RangeType range_type(std::string_view word) {
  for (std::size_t i = 0; i < kRangeTypes; ++i) {
    const auto type = static_cast<RangeType>(i);
    if (word == range_type_name(type)) return type;
  }
  return RangeType::kUser;
}

Result<DetailRows> read_detail(Database& database, std::int64_t process) {
  DetailRows rows;
  auto activities = database.prepare("SELECT * FROM activity WHERE process = ?");
  if (!activities) return base::fail(activities.error());
  activities->bind(process);
  while (activities->step()) {
    ActivityRow row;
    row.type = static_cast<ActivityType>(std::clamp<std::int64_t>(activities->integer(1), 0, 2));
    row.start = activities->integer(2);
    row.end = std::max(row.start, activities->integer(3));
    row.name = clipped<NameId>(activities->integer(4));
    row.device = clipped<std::uint16_t>(activities->integer(5));
    row.stream = clipped<std::uint32_t>(activities->integer(6));
    row.correlation = clipped<std::uint32_t>(activities->integer(7));
    row.config = clipped<std::uint32_t>(activities->integer(8));
    row.bytes = clipped<std::uint64_t>(activities->integer(9));
    row.copy_kind = clipped<std::uint8_t>(activities->integer(10));
    row.memory_kinds = clipped<std::uint8_t>(activities->integer(11));
    row.graph = clipped<std::uint32_t>(activities->integer(12));
    rows.activities.push_back(row);
  }
  if (activities->failed()) return base::fail(damaged(database, "activity"));
  auto calls = database.prepare("SELECT * FROM api_call WHERE process = ?");
  if (!calls) return base::fail(calls.error());
  calls->bind(process);
  while (calls->step()) {
    ApiCallRow row;
    row.start = calls->integer(1);
    row.end = std::max(row.start, calls->integer(2));
    row.name = clipped<NameId>(calls->integer(3));
    row.thread = clipped<std::uint32_t>(calls->integer(4));
    row.correlation = clipped<std::uint32_t>(calls->integer(5));
    row.result = clipped<std::uint32_t>(calls->integer(6));
    rows.api_calls.push_back(row);
  }
  if (calls->failed()) return base::fail(damaged(database, "api_call"));
  auto ranges = database.prepare("SELECT * FROM host_range WHERE process = ?");
  if (!ranges) return base::fail(ranges.error());
  ranges->bind(process);
  // A pause that is long and lies in a kept window is there as both.
  std::set<std::tuple<RangeType, std::int64_t, std::int64_t, std::uint32_t>> pauses;
  while (ranges->step()) {
    RangeRow row;
    row.type = range_type(ranges->text(1));
    row.start = ranges->integer(2);
    row.end = std::max(row.start, ranges->integer(3));
    row.name = clipped<NameId>(ranges->integer(4));
    row.thread = clipped<std::uint32_t>(ranges->integer(5));
    row.a = ranges->integer(6);
    row.b = ranges->integer(7);
    row.flags = clipped<std::uint16_t>(ranges->integer(8));
    if (is_pause(row.type) && !pauses.insert({row.type, row.start, row.end, row.thread}).second) {
      continue;
    }
    rows.ranges.push_back(row);
  }
  if (ranges->failed()) return base::fail(damaged(database, "host_range"));
  return rows;
}

Result<void> read_losses(Database& database, std::int64_t process, model::ImportStats& stats) {
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
  if (statement->failed()) return base::fail(damaged(database, "loss"));
  return {};
}

// Everything of one process but its rows' times.
struct Recorded {
  ProcessRow process;
  std::vector<DeviceRow> devices;
  std::vector<model::Interval> windows;
  DetailRows rows;
  std::shared_ptr<model::RecordedRun> run;
};

Result<Recorded> read_process(Database& database, const NameTable& names, ProcessRow process) {
  Recorded out;
  out.process = std::move(process);
  auto devices = read_devices(database, out.process.id);
  if (!devices) return base::fail(devices.error());
  out.devices = std::move(*devices);
  auto windows = read_windows(database, out.process.id);
  if (!windows) return base::fail(windows.error());
  out.windows = std::move(*windows);
  auto rows = read_detail(database, out.process.id);
  if (!rows) return base::fail(rows.error());
  out.rows = std::move(*rows);
  auto run = read_run(database, names, out.process);
  if (!run) return base::fail(run.error());
  out.run = std::make_shared<model::RecordedRun>(std::move(*run));
  return out;
}

// What every rank kept: ranks are compared moment by moment, so one that kept nothing at a time
// takes that time from all.
std::vector<model::Interval> common_windows(const std::vector<Recorded>& ranks) {
  std::vector<model::Interval> common;
  bool first = true;
  for (const Recorded& rank : ranks) {
    const std::vector<model::Interval> own = TimeMap(rank.windows).windows();
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

model::RankTimeline make_rank(Recorded& recorded, const NameTable& names, const Configs& configs,
                              const TimeMap& map, const std::string& path) {
  model::RankTimeline timeline =
      make_timeline({recorded.rows, names, configs, recorded.process, recorded.devices}, map);
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
  info.event_count = static_cast<std::int64_t>(recorded.rows.size());
  for (const model::Interval& window : map.windows()) recorded.run->kept += window.length();
  timeline.run = recorded.run;
  return timeline;
}

}  // namespace

bool is_recording(std::string_view head) { return head.starts_with(kMagic); }

Result<model::Timeline> read_recording(const std::string& path) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  // One moment of a file that may still be growing.
  if (!database->execute("BEGIN")) return base::fail(database->last_error("cannot read"));
  const auto names = read_names(*database);
  if (!names) return base::fail(names.error());
  const auto configs = read_configs(*database);
  if (!configs) return base::fail(configs.error());
  const auto processes = read_processes(*database);
  if (!processes) return base::fail(processes.error());

  std::vector<Recorded> ranks;
  for (const ProcessRow& process : *processes) {
    auto one = read_process(*database, *names, process);
    if (!one) return base::fail(one.error());
    const bool took_part = !one->rows.activities.empty() || !one->run->steps.empty();
    if (took_part || processes->size() == 1) ranks.push_back(std::move(*one));
  }
  if (ranks.empty()) {
    return base::fail({.kind = base::ErrorKind::kEmpty,
                       .message = "the recording holds no process that trained",
                       .file = path,
                       .advice = "pyrometer run saw neither GPU work nor training steps"});
  }
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
    if (auto ok = read_losses(*database, rank.process.id, one.stats); !ok) {
      return base::fail(ok.error());
    }
    const bool alone = ranks.size() == 1;
    one.info.source = one.info.rank >= 0 ? model::RankSource::kDistributedInfo
                      : alone            ? model::RankSource::kSingle
                                         : model::RankSource::kOrder;
    if (one.info.rank < 0) one.info.rank = static_cast<std::int32_t>(timeline.ranks.size());
    timeline.ranks.push_back(std::move(one));
  }
  return timeline;
}

}  // namespace pyrometer::recording
