#include "recording/tune_file.h"

#include "recording/open_recording.h"
#include "recording/schema.h"

namespace pyrometer::recording {
namespace {

using base::Result;

constexpr char kTables[] = R"(
CREATE TABLE tune (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tune_trial (
  id INTEGER PRIMARY KEY, phase TEXT NOT NULL, round INTEGER NOT NULL, rung INTEGER NOT NULL,
  point TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL,
  steps INTEGER NOT NULL, gpus INTEGER NOT NULL, step_ns REAL, samples_per_step REAL,
  usd_per_gpu_hour REAL, joules_per_step REAL, peak_memory_bytes REAL, loss REAL,
  seconds_to_loss REAL);
CREATE TABLE tune_value (trial INTEGER NOT NULL, dimension TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (trial, dimension)) WITHOUT ROWID;
)";

constexpr char kColumns[] =
    "id, phase, round, rung, point, outcome, reason, seconds, steps, gpus, step_ns, "
    "samples_per_step, usd_per_gpu_hour, joules_per_step, peak_memory_bytes, loss, "
    "seconds_to_loss";

using Figure = std::optional<double> TuneRow::*;
constexpr Figure kFigures[] = {&TuneRow::step_ns,           &TuneRow::samples_per_step,
                               &TuneRow::usd_per_gpu_hour,  &TuneRow::joules_per_step,
                               &TuneRow::peak_memory_bytes, &TuneRow::loss,
                               &TuneRow::seconds_to_loss};
constexpr int kFirstFigure = 10;  // column

}  // namespace

Result<TuneFile> TuneFile::create(const std::string& path,
                                  const std::map<std::string, std::string>& settings) {
  auto database = Database::open(path, OpenMode::kCreate);
  if (!database) {
    database.error().advice = "Name another file to --save to, or go on with this one by --resume";
    return base::fail(database.error());
  }
  TuneFile file(std::move(*database));
  // Few rows, each of which took seconds to measure: every one is synced.
  const bool made = file.database_.execute("PRAGMA journal_mode = WAL; BEGIN;") &&
                    file.database_.execute(schema_sql().c_str()) && file.database_.execute(kTables);
  if (!made) return base::fail(file.database_.last_error("cannot set up the file of results"));
  file.settings_ = settings;
  auto put = file.database_.prepare("INSERT INTO tune VALUES (?,?)");
  if (!put) return base::fail(put.error());
  for (const auto& [key, value] : settings) {
    if (!put->bind(key).bind(value).run()) {
      return base::fail(file.database_.last_error("cannot write the settings"));
    }
  }
  if (!file.database_.execute("COMMIT")) {
    return base::fail(file.database_.last_error("cannot write the settings"));
  }
  return file;
}

Result<TuneFile> TuneFile::open(const std::string& path) {
  {
    const auto seen = open_recording(path);  // judges what kind of file it is
    if (!seen) return base::fail(seen.error());
  }
  auto database = Database::open(path, OpenMode::kExisting);
  if (!database) return base::fail(database.error());
  if (auto plain = expect_plain_tables(*database); !plain) return base::fail(plain.error());
  TuneFile file(std::move(*database));
  auto is_there =
      file.database_.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'tune_trial'");
  if (!is_there) return base::fail(is_there.error());
  if (!is_there->step() || is_there->integer(0) == 0) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "a recording, but without results of pyrometer tune",
                       .file = path,
                       .expected = "a file that pyrometer tune --save wrote"});
  }
  if (auto read = file.read(); !read) return base::fail(read.error());
  return file;
}

Result<void> TuneFile::read() {
  auto settings = database_.prepare("SELECT key, value FROM tune");
  if (!settings) return base::fail(settings.error());
  while (settings->step()) {
    settings_[std::string(settings->text(0))] = std::string(settings->text(1));
  }
  if (settings->failed()) return base::fail(damaged(database_, "tune"));
  auto trials =
      database_.prepare(std::string("SELECT ") + kColumns + " FROM tune_trial ORDER BY id");
  if (!trials) return base::fail(trials.error());
  while (trials->step()) {
    TuneRow row{.phase = std::string(trials->text(1)),
                .round = trials->integer(2),
                .rung = trials->integer(3),
                .point = std::string(trials->text(4)),
                .outcome = std::string(trials->text(5)),
                .reason = std::string(trials->text(6)),
                .seconds = trials->real(7),
                .steps = trials->integer(8),
                .gpus = trials->integer(9)};
    int column = kFirstFigure;
    for (const Figure figure : kFigures) {
      if (!trials->is_null(column)) row.*figure = trials->real(column);
      ++column;
    }
    rows_.push_back(std::move(row));
  }
  if (trials->failed()) return base::fail(damaged(database_, "tune_trial"));
  return {};
}

Result<void> TuneFile::add(const TuneRow& row) {
  const auto undo = [this](std::string_view doing) {
    base::Error error = database_.last_error(doing);
    (void)database_.execute("ROLLBACK");
    return base::fail(std::move(error));
  };
  if (!database_.execute("BEGIN IMMEDIATE")) return undo("cannot write a trial");
  auto trial = database_.prepare(std::string("INSERT INTO tune_trial (") + kColumns +
                                 ") VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!trial) return undo("cannot write a trial");
  trial->bind(row.phase).bind(row.round).bind(row.rung).bind(row.point).bind(row.outcome);
  trial->bind(row.reason).bind(row.seconds).bind(row.steps).bind(row.gpus);
  for (const Figure figure : kFigures) {
    if (row.*figure) {
      trial->bind(*(row.*figure));
    } else {
      trial->bind_null();
    }
  }
  if (!trial->run()) return undo("cannot write a trial");
  const std::int64_t id = database_.last_row_id();
  auto value = database_.prepare("INSERT INTO tune_value VALUES (?,?,?)");
  if (!value) return undo("cannot write a trial");
  for (const auto& [dimension, text] : row.values) {
    if (!value->bind(id).bind(dimension).bind(text).run()) return undo("cannot write a trial");
  }
  if (!database_.execute("COMMIT")) return undo("cannot write a trial");
  rows_.push_back(row);
  return {};
}

}  // namespace pyrometer::recording
