#include "cli/recorded_rows.h"

#include <utility>

#include "recording/metric_reader.h"

namespace pyrometer::cli {
namespace {

using sources::replay::RecordedRow;

class Rows final : public sources::replay::RecordedRows {
 public:
  explicit Rows(recording::MetricReader reader) : reader_(std::move(reader)) {}

  base::Result<void> rewind() override { return reader_.rewind(); }
  base::Result<bool> next(RecordedRow& row) override {
    auto more = reader_.next(row_);
    if (!more || !*more) return more;
    row = {.time_ns = row_.time_ns,
           .metric = row_.metric,
           .object = row_.object,
           .number = row_.number,
           .text = row_.text};
    return true;
  }

 private:
  recording::MetricReader reader_;
  recording::MetricRow row_;
};

}  // namespace

base::Result<std::unique_ptr<sources::replay::RecordedRows>> open_recorded_rows(
    const std::string& path) {
  auto reader = recording::MetricReader::open(path);
  if (!reader) return base::fail(reader.error());
  return std::make_unique<Rows>(std::move(*reader));
}

}  // namespace pyrometer::cli
