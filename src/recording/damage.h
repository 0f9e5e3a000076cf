// What a recording lacks because its file is damaged, and what stands in it that no recorder wrote:
// both become counters of the import.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/import_stats.h"
#include "model/types.h"
#include "recording/database.h"

namespace pyrometer::recording {

class Damage {
 public:
  // Reads what the file says of the run's time: nothing recorded lies outside.
  explicit Damage(Database& database);

  // Counts a file whose end is missing. A recording that still grows has its end in the write-ahead
  // log: it is none.
  void check_length(const std::string& path);
  // After a query failed, or where rows came out of order (not `told` by SQLite): the table could
  // be read up to there. `rest` says what became of what follows.
  void table(const Database& database, std::string_view table, std::string_view rest,
             bool told = true);
  // A row that cannot be: left out by the caller.
  void row(std::string_view table);

  [[nodiscard]] model::Interval run() const { return run_; }
  [[nodiscard]] bool is_time(std::int64_t time) const {
    return time >= run_.start && time <= run_.end;
  }
  [[nodiscard]] bool is_span(std::int64_t start, std::int64_t end) const {
    return is_time(start) && is_time(end) && start <= end;
  }
  // A length of time that fits into the run.
  [[nodiscard]] bool is_length(std::int64_t length) const {
    return length >= 0 && length <= run_.length();
  }
  [[nodiscard]] const model::ImportStats& stats() const { return stats_; }
  // What was met first, for an error; "" for a sound file.
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  model::Interval run_;
  model::ImportStats stats_;
  std::string first_;
};

}  // namespace pyrometer::recording
