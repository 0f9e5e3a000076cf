// The results of `pyrometer tune` in a .pyro file: its tables tune, tune_trial and tune_value
// (docs/reference/recording.md). Each trial is on disk before the next one starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recording/database.h"

namespace pyrometer::recording {

// A row of tune_trial; what is absent is NULL.
struct TuneRow {
  std::string phase;  // "search" or "final"
  std::int64_t round = 0;
  std::int64_t rung = 0;
  std::string point;  // positions of the values in their dimensions: "3,1"
  std::vector<std::pair<std::string, std::string>> values;  // dimension, value: table tune_value
  std::string outcome;
  std::string reason;
  double seconds = 0;
  std::int64_t steps = 0;
  std::int64_t gpus = 0;
  std::optional<double> step_ns, samples_per_step, usd_per_gpu_hour, joules_per_step,
      peak_memory_bytes, loss, seconds_to_loss;
};

class TuneFile {
 public:
  // A new file. Errors: as of any file that is there already or cannot be written.
  [[nodiscard]] static base::Result<TuneFile> create(
      const std::string& path, const std::map<std::string, std::string>& settings);
  // To go on with it. Errors: as of any recording; kUnsupported where it holds no tune.
  [[nodiscard]] static base::Result<TuneFile> open(const std::string& path);

  [[nodiscard]] const std::map<std::string, std::string>& settings() const { return settings_; }
  [[nodiscard]] const std::vector<TuneRow>& rows() const { return rows_; }
  [[nodiscard]] const std::string& path() const { return database_.path(); }
  // All of it, or nothing.
  [[nodiscard]] base::Result<void> add(const TuneRow& row);

 private:
  explicit TuneFile(Database database) : database_(std::move(database)) {}
  [[nodiscard]] base::Result<void> read();

  Database database_;
  std::map<std::string, std::string> settings_;
  std::vector<TuneRow> rows_;
};

}  // namespace pyrometer::recording
