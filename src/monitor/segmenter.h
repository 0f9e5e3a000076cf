// Turns the stream of one process's events into finished steps with their waterfalls, in bounded
// memory, while the run goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "model/run.h"
#include "monitor/capture_log.h"
#include "monitor/keep_policy.h"
#include "recording/correlation_set.h"
#include "recording/names.h"
#include "recording/rows.h"

namespace pyrometer::monitor {

// What the segmenter shares with the recorder of its process.
struct SegmenterContext {
  const recording::NameTable& names;
  const std::unordered_map<std::uint32_t, recording::ConfigRow>& configs;
  const recording::ProcessRow& process;
  const std::vector<recording::DeviceRow>& devices;
  const CaptureLog& capture;
};

// Events come in any order; a step is finished once everything of it must have arrived: some time
// has passed since, and every kernel launched before its end has been seen to run. Where no steps
// are marked, and around them, slices of time take their place (count 0).
class Segmenter {
 public:
  using StepSink = std::function<void(const model::RecordedStep&)>;
  using SegmentSink = std::function<void(Segment)>;

  Segmenter(SegmenterContext context, StepSink on_step, SegmentSink on_segment)
      : context_(context), on_step_(std::move(on_step)), on_segment_(std::move(on_segment)) {}

  void add_activity(const recording::ActivityRow& row);
  void add_call(const recording::ApiCallRow& row);
  void add_range(const recording::RangeRow& row);

  // Finishes what can be finished at `now`, ns of CLOCK_MONOTONIC.
  void advance(model::TimeNs now);
  // The process has ended: finishes everything.
  void finish();

  // Steps that are over and wait for the rest of their events: without waterfall, device -1.
  [[nodiscard]] std::vector<model::RecordedStep> pending_steps() const;

  // Events that came after their step had been finished; they are in no waterfall.
  [[nodiscard]] std::int64_t late() const { return late_; }
  [[nodiscard]] bool has_steps() const { return has_steps_; }
  [[nodiscard]] std::size_t held_rows() const { return held_.size(); }

 private:
  struct Piece {  // a step, or a slice of time
    model::Interval span;
    std::int64_t index = -1;
    std::int64_t count = 0;
    std::int64_t samples = -1;
    model::DurationNs length = 0;  // of the whole step, also where its start was cut off
    bool captured = false;
  };

  [[nodiscard]] bool launches_kernel(recording::NameId call);
  [[nodiscard]] model::TimeNs watermark(model::TimeNs now);
  [[nodiscard]] std::vector<Piece> due_pieces(model::TimeNs until, bool everything);
  [[nodiscard]] bool slices_due(model::TimeNs until) const;
  void finish_pieces(std::vector<Piece> pieces);
  void report(const std::vector<Piece>& pieces);
  void emit_segments(const std::vector<Piece>& pieces);
  [[nodiscard]] Segment make_segment(const Piece* first, const Piece* last);
  [[nodiscard]] recording::DetailRows around(model::Interval window) const;
  [[nodiscard]] bool waits_for_input(const recording::RangeRow& range) const;
  [[nodiscard]] model::DurationNs input_wait(model::Interval span);
  void forget_before(model::TimeNs time);
  void forget_idle(model::TimeNs now);

  SegmenterContext context_;
  StepSink on_step_;
  SegmentSink on_segment_;
  recording::DetailRows held_;
  std::deque<recording::RangeRow> steps_;
  std::deque<model::Interval> waits_;       // of the main thread for its loader, not yet counted
  recording::CorrelationSet ran_;           // correlations of held calls whose activity was seen
  std::vector<std::uint8_t> launch_names_;  // by name: 0 not looked at yet, 1 no launch, 2 a launch
  std::unordered_map<std::uint16_t, recording::ActivityRow> last_;  // by device: latest to end
  model::TimeNs finished_ = 0;                                      // everything before is done
  model::TimeNs first_event_ = 0;
  model::TimeNs last_segment_end_ = 0;
  model::TimeNs device_end_ = 0;  // latest end of an activity
  model::DurationNs longest_step_ = 0;
  std::int64_t late_ = 0;
  bool has_steps_ = false;
  bool used_device_ = false;
};

}  // namespace pyrometer::monitor
