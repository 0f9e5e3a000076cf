// A thin owner of an SQLite connection and its statements. Errors become base::Error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pyrometer::recording {

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next parameter.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);  // copied
  Statement& bind_null();
  // Runs a statement without results and makes it ready for the next row.
  [[nodiscard]] bool run();
  // Moves to the next row of results; false at the end or on an error (see failed()).
  [[nodiscard]] bool step();
  [[nodiscard]] bool failed() const { return failed_; }
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // until the next step

 private:
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  bool failed_ = false;
};

enum class OpenMode : std::uint8_t {
  kCreate,          // a new file, mode 0600; an error where one exists
  kExisting,        // for writing
  kRead,            // also while another process writes it
  kReadOnlyMedium,  // nothing beside the file may be made: what is in a -wal file is not seen
  kDamaged,         // as far as it goes: also where pages are missing at the end
};

class Database {
 public:
  [[nodiscard]] static base::Result<Database> open(const std::string& path, OpenMode mode);
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

  [[nodiscard]] bool execute(const char* sql);
  [[nodiscard]] base::Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] std::int64_t last_row_id() const;  // of the last insertion
  // What the last failure was, as an error about this file.
  [[nodiscard]] base::Error last_error(std::string_view doing) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace pyrometer::recording
