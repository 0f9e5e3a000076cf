// The readings of a recording's GPUs by time: what Writer::add_sample and add_missing wrote of
// objects called "gpu …".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "recording/database.h"

namespace pyrometer::recording {

struct MetricRow {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC of the machine that recorded
  std::string metric;        // "gpu.util"
  std::string object;        // "gpu 0", "gpu 0 process 4242"
  std::optional<double> number;
  std::string text;  // where there is no number: "= " and a text, or the reason
};

class MetricReader {
 public:
  // Errors: kNotFound, kPermission, kFormat, kUnsupported (a newer version).
  [[nodiscard]] static base::Result<MetricReader> open(const std::string& path);

  // False at the end.
  [[nodiscard]] base::Result<bool> next(MetricRow& row);
  [[nodiscard]] base::Result<void> rewind();

 private:
  MetricReader(Database database, Statement rows)
      : database_(std::move(database)), rows_(std::move(rows)) {}
  Database database_;
  Statement rows_;
};

}  // namespace pyrometer::recording
