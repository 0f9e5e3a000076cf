// Records one process: decodes its ring, follows its steps, writes what is kept.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/run.h"
#include "monitor/capture_log.h"
#include "monitor/duty_cycle.h"
#include "monitor/keep_policy.h"
#include "monitor/segmenter.h"
#include "monitor/step_log.h"
#include "monitor/sync_windows.h"
#include "recording/writer.h"
#include "ring/reader.h"

namespace pyrometer::monitor {

// Launch configurations of all processes; equal ones share an id.
class ConfigTable {
 public:
  explicit ConfigTable(recording::Writer& writer) : writer_(writer) {}
  [[nodiscard]] std::uint32_t id_of(const recording::ConfigRow& config);
  [[nodiscard]] const std::unordered_map<std::uint32_t, recording::ConfigRow>& rows() const {
    return rows_;
  }

 private:
  recording::Writer& writer_;
  std::unordered_map<std::uint32_t, recording::ConfigRow> rows_;
  std::map<std::array<std::uint32_t, 9>, std::uint32_t> ids_;
};

// The last seconds, for the status line.
struct LiveState {
  std::int64_t steps = 0;  // finished so far
  model::DurationNs step_time = 0;
  double samples_per_second = -1;  // -1: not known
  model::CauseTimes causes{};
};

struct RecorderOptions {
  double overhead_budget = 0.005;  // share of the run's time; 0: capture always, not measured
  bool measure_overhead = false;   // half on, half off, whatever the budget
  KeepLimits keep;
  // Told what a process says of an override: the process's id in the recording, the override's id,
  // its status.
  std::function<void(std::int64_t, std::string_view, std::string_view)> on_override;
};

class ProcessRecorder final : private ring::RecordSink {
 public:
  // `id`: of the process in the recording.
  ProcessRecorder(ring::Reader reader, std::int64_t id, recording::Writer& writer,
                  ConfigTable& configs, const RecorderOptions& options);
  ~ProcessRecorder() override = default;
  ProcessRecorder(const ProcessRecorder&) = delete;
  ProcessRecorder& operator=(const ProcessRecorder&) = delete;

  // Takes what the ring holds; returns the number of records.
  std::size_t drain();
  // Finishes what can be finished, tells the process what is wanted of it. `capture`: whether the
  // GPU shall be watched; without it the process's own duty cycle decides.
  void advance(model::TimeNs now, std::optional<bool> capture = {});
  [[nodiscard]] bool wants_capture(model::TimeNs now) { return duty_.want_on(now); }
  // The process is gone: takes the rest, writes everything. Nothing more may be called after it.
  void finish(model::TimeNs now);

  [[nodiscard]] bool ended() { return reader_.writer_ended(); }
  [[nodiscard]] const recording::ProcessRow& process() const { return process_; }
  [[nodiscard]] bool took_part() const { return used_device_ || segmenter_.has_steps(); }
  [[nodiscard]] LiveState live() const;
  void ask_to_end() { reader_.set_control(ring::kControlEnd); }

 private:
  void on_string(std::uint32_t id, std::string_view text) override;
  void on_config(const ring::KernelConfigBody& config) override;
  void on_kernel(std::uint32_t thread, const ring::ActivityBody& kernel) override;
  void on_copy(std::uint32_t thread, const ring::ActivityBody& copy) override;
  void on_memset(std::uint32_t thread, const ring::ActivityBody& memset) override;
  void on_api_call(std::uint32_t thread, const ring::ApiCallBody& call) override;
  void on_sync(std::uint32_t thread, const ring::SyncBody& sync) override;
  void on_range(std::uint32_t thread, const ring::RangeBody& range) override;
  void on_counter(std::uint32_t thread, const ring::CounterBody& counter) override;
  void on_info(const ring::InfoBody& info) override;
  void on_capture(const ring::CaptureBody& capture) override;
  void on_loss(const ring::LossBody& loss) override;

  [[nodiscard]] recording::NameId name(std::uint32_t local) const;
  [[nodiscard]] recording::ActivityRow activity(const ring::ActivityBody& body,
                                                recording::ActivityType type) const;
  void on_step(const model::RecordedStep& step);
  void note_region(const recording::RangeRow& row);
  void note_blocking_line(const recording::RangeRow& row);
  void write_lines();
  void take_device_info(std::string_view key, std::string_view value);
  void take_rank_info(std::string_view key, std::string_view value);
  void note_drops(model::TimeNs now);

  ring::Reader reader_;
  recording::Writer& writer_;
  ConfigTable& configs_;
  recording::ProcessRow process_;
  std::vector<recording::DeviceRow> devices_;
  std::vector<recording::NameId> names_;
  std::vector<std::uint32_t> config_ids_;
  CaptureLog capture_;
  DutyCycle duty_;
  KeepPolicy keep_;
  StepLog step_log_;
  Segmenter segmenter_;
  std::array<model::RegionTotal, recording::kRangeTypes> regions_;  // by type
  struct Line {
    std::int64_t count = 0;  // samples, or calls
    model::DurationNs total = 0, longest = 0;
    bool written = false;
  };
  using Lines = std::unordered_map<recording::NameId, Line>;
  [[nodiscard]] static Line* line_of(Lines& lines, recording::NameId name);
  Lines host_lines_;
  Lines blocking_lines_;
  SyncWindows sync_windows_;
  std::array<std::uint64_t, ring::kRecordTypes> dropped_{};
  std::deque<model::RecordedStep> recent_;  // of the last seconds
  std::int64_t steps_ = 0;
  model::TimeNs last_step_end_ = 0;
  bool used_device_ = false;
  bool process_changed_ = true;
  std::function<void(std::int64_t, std::string_view, std::string_view)> on_override_;
};

}  // namespace pyrometer::monitor
