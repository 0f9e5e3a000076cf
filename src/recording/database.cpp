#include "recording/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pyrometer::recording {
namespace {

base::ErrorKind kind_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return base::ErrorKind::kFormat;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return base::ErrorKind::kPermission;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return base::ErrorKind::kResource;
    default:
      return base::ErrorKind::kIo;
  }
}

std::string advice_for(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return "Free some space, or write the recording elsewhere with -o";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "The file is damaged or no recording; sqlite3's .recover may save parts of it";
    default:
      return "";
  }
}

// SQLite would make the file with the process's umask; a recording is its owner's alone.
base::Result<void> make_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    const int why = errno;
    return base::fail({.kind = why == EEXIST                   ? base::ErrorKind::kUsage
                               : why == EACCES || why == EROFS ? base::ErrorKind::kPermission
                                                               : base::ErrorKind::kIo,
                       .message = std::string("cannot make the recording: ") + std::strerror(why),
                       .file = path,
                       .advice = why == EEXIST ? "Give -o another name" : ""});
  }
  ::close(fd);
  return {};
}

}  // namespace

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      next_(other.next_),
      failed_(other.failed_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(next_, other.next_);
  std::swap(failed_, other.failed_);
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, next_++, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, next_++, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, next_++);
  return *this;
}

bool Statement::run() {
  const int result = sqlite3_step(statement_);
  failed_ = result != SQLITE_DONE && result != SQLITE_ROW;
  reset();
  return !failed_;
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  failed_ = result != SQLITE_DONE && result != SQLITE_ROW;
  return result == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  next_ = 1;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

base::Result<Database> Database::open(const std::string& path, OpenMode mode) {
  std::string name = path;
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY;
  if (mode == OpenMode::kCreate) {
    if (auto made = make_private(path); !made) return base::fail(made.error());
    flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
  } else if (mode == OpenMode::kExisting) {
    flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
  } else if (mode == OpenMode::kReadOnlyMedium || mode == OpenMode::kDamaged) {
    name = "file:";
    for (const char c : path) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                         c == '-' || c == '_';
      if (plain) {
        name += c;
      } else {
        constexpr char kHex[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        name += '%';
        name += kHex[byte >> 4U];
        name += kHex[byte & 15U];
      }
    }
    name += "?immutable=1";
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(handle, path);
  if (result != SQLITE_OK) return base::fail(database.last_error("cannot open the recording"));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 2000);  // ms; only a reader's checkpoint can be in the way
  // A recording may come from anywhere: nothing in its schema may run.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (mode == OpenMode::kDamaged) {
    // SQLite refuses a file that is shorter than it says, unless its schema may be written; nothing
    // is, as the file is opened for reading.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  } else {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  }
  if (mode != OpenMode::kCreate && mode != OpenMode::kExisting) {
    (void)database.execute("PRAGMA cell_size_check = ON");  // it may be damaged, too
  }
  return database;
}

bool Database::execute(const char* sql) {
  return sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return base::fail(last_error("cannot prepare a query"));
  return Statement(statement);
}

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(handle_.get()); }

base::Error Database::last_error(std::string_view doing) const {
  const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(handle_.get());
  return {.kind = kind_of(code),
          .message = std::string(doing) + ": " +
                     (handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_.get())),
          .file = path_,
          .advice = advice_for(code)};
}

}  // namespace pyrometer::recording
