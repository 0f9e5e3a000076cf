// Plays what a recording tells of its devices, at the speed at which it was recorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// Where a recording that is being played stands, in its own time. Any thread.
using PlayedTime = std::atomic<std::int64_t>;

// Within this time all readings of the first round have come.
inline constexpr std::int64_t kFirstRound = 300'000'000;

struct RecordedOptions {
  double speed = 1;
  // Begins this long after the first reading of a device; nothing: stays at the end.
  std::optional<std::int64_t> from_ns = 0;
  bool repeat = false;               // begin anew at the end; else the source then fails
  std::vector<std::string> devices;  // see SourceOptions::gpus
  std::shared_ptr<PlayedTime> played = std::make_shared<PlayedTime>(0);
  std::function<std::int64_t()> clock = monotonic_ns;
};

// The group "fast" tells all that is known at the moment being played, with the time at which it
// is played; the others tell nothing. A device of which nothing was recorded for ten seconds is
// gone.
class RecordedSource final : public Source {
 public:
  RecordedSource(std::unique_ptr<RecordedRows> rows, RecordedOptions options);

  [[nodiscard]] std::string_view name() const override { return "recording"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  // Errors: those of the rows, kEmpty where they tell of no device, kUsage where they end before
  // `from_ns`.
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override {}

 private:
  struct Device {
    std::map<std::pair<std::int32_t, MetricId>, Reading> readings;  // process -1: the device's
    std::map<std::int32_t, std::int64_t> seen_ns;                   // processes, when last listed
    std::int64_t newest_ns = 0;
    std::int64_t listed_ns = 0;  // when its processes were counted last

    void take(Reading reading);
    void forget_numbers();
    void drop_ended_processes();
  };

  [[nodiscard]] base::Result<bool> fetch();                 // the next row of a device into next_
  [[nodiscard]] base::Result<void> play(std::int64_t end);  // all up to this recorded time
  [[nodiscard]] bool is_wanted(const Device& device) const;

  std::unique_ptr<RecordedRows> rows_;
  RecordedOptions options_;
  std::optional<Reading> next_;
  std::map<std::int32_t, Device> devices_;
  std::int64_t first_ns_ = 0;  // of the recording
  std::int64_t last_ns_ = 0;   // that was played of it
  std::int64_t begun_ns_ = 0;  // when playing began, by options_.clock
  std::int64_t begun_at_ = 0;  // and where in the recording
};

// The object of a row as a subject; nothing where it is no device.
[[nodiscard]] std::optional<Subject> recorded_subject(std::string_view object);

}  // namespace pyrometer::sources::replay
