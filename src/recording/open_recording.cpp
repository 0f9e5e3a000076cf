#include "recording/open_recording.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "recording/schema.h"

namespace pyrometer::recording {

using base::Result;

base::Error damaged(const Database& database, std::string_view table) {
  base::Error error = database.last_error("cannot read the table " + std::string(table));
  if (error.kind == base::ErrorKind::kIo) error.kind = base::ErrorKind::kFormat;
  return error;
}

Result<std::int64_t> pragma(Database& database, const char* name) {
  auto statement = database.prepare(std::string("PRAGMA ") + name);
  if (!statement) return base::fail(statement.error());
  if (!statement->step()) return base::fail(damaged(database, "sqlite_schema"));
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
  // The write-ahead log needs a file beside the recording; where that cannot be, do without. Where
  // the end of the file is missing, read what is there.
  for (const OpenMode mode : {OpenMode::kReadOnlyMedium, OpenMode::kDamaged}) {
    if (id) break;
    auto plain = Database::open(path, mode);
    if (!plain) continue;
    auto again = pragma(*plain, "application_id");
    if (!again) continue;
    id = again;
    database = std::move(plain);
  }
  if (!id) return base::fail(id.error());
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

Result<void> expect_plain_tables(Database& database) {
  auto statement = database.prepare(
      "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') "
      "OR (type = 'table' AND rootpage = 0)");
  if (!statement) return base::fail(statement.error());
  if (statement->step()) {
    return base::fail({.kind = base::ErrorKind::kFormat,
                       .message = "an SQLite file with a " + std::string(statement->text(0)) +
                                  " (" + std::string(statement->text(1)) +
                                  ") that is stored nowhere: no recording has one",
                       .file = database.path(),
                       .expected = "a .pyro file as pyrometer run writes it"});
  }
  if (statement->failed()) return base::fail(damaged(database, "sqlite_schema"));
  return {};
}

}  // namespace pyrometer::recording
