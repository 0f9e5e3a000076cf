// Plays what a recording tells of its devices, at the speed at which it was recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sources/source.h"

namespace pyrometer::sources::replay {

struct RecordedRow {
  std::int64_t time_ns = 0;
  std::string metric;            // "gpu.util"
  std::string object;            // "gpu 0", "gpu 0 process 4242"
  std::optional<double> number;  // else `text` tells
  std::string text;              // "= NVIDIA H200", or why there is no value
};

// Where the rows come from: sources know no recordings.
class RecordedRows {
 public:
  RecordedRows() = default;
  RecordedRows(const RecordedRows&) = delete;
  RecordedRows& operator=(const RecordedRows&) = delete;
  virtual ~RecordedRows() = default;

  // Begins anew.
  [[nodiscard]] virtual base::Result<void> rewind() = 0;
  // The next row by time; false at the end.
  [[nodiscard]] virtual base::Result<bool> next(RecordedRow& row) = 0;
};

struct RecordedOptions {
  double speed = 1;
  bool repeat = false;  // begin anew at the end; else the source then fails
  bool identify_always = false;
  std::function<std::int64_t()> clock = monotonic_ns;
};

// Readings bear the time at which they are played.
class RecordedSource final : public Source {
 public:
  RecordedSource(std::unique_ptr<RecordedRows> rows, RecordedOptions options);

  [[nodiscard]] std::string_view name() const override { return "recording"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  // Errors: those of the rows, kEmpty where they tell of no device.
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override {}

 private:
  using Key = std::pair<MetricId, std::pair<std::int32_t, std::int32_t>>;  // device, process

  [[nodiscard]] base::Result<bool> fetch();  // the next row of a device into next_
  [[nodiscard]] base::Result<void> play(Batch& batch, std::int64_t now_ns);

  std::unique_ptr<RecordedRows> rows_;
  RecordedOptions options_;
  std::optional<Reading> next_;
  std::map<Key, Reading> fixed_;  // texts and absences, which are recorded when they change
  std::int64_t first_ns_ = 0;     // of the recording
  std::int64_t begun_ns_ = 0;     // of playing it
};

// The object of a row as a subject; nothing where it is no device.
[[nodiscard]] std::optional<Subject> recorded_subject(std::string_view object);

}  // namespace pyrometer::sources::replay
