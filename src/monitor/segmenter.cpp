#include "monitor/segmenter.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/kernel_classes.h"
#include "analysis/waterfall.h"
#include "recording/time_map.h"
#include "recording/timeline_rows.h"

namespace pyrometer::monitor {
namespace {

using model::DurationNs;
using model::Interval;
using model::TimeNs;
using recording::ActivityRow;
using recording::ApiCallRow;
using recording::DetailRows;
using recording::RangeRow;
using recording::RangeType;

constexpr DurationNs kSecond = 1'000'000'000;
// The library flushes twice a second; this leaves room for a slow flush.
constexpr DurationNs kArrival = 3 * kSecond / 2;
// A launch that is not seen to run for so long was captured into a graph, or its record was lost.
constexpr DurationNs kLongestKernel = 8 * kSecond;
constexpr DurationNs kSlice = kSecond / 2;
constexpr std::size_t kMostRows = 250'000;  // held without the end of a step in sight

bool is_launch(std::string_view call) {
  return call.starts_with("cudaLaunchKernel") || call.starts_with("cuLaunchKernel") ||
         call.starts_with("cudaLaunchCooperative") || call.starts_with("cuLaunchCooperative");
}

}  // namespace

void Segmenter::add_activity(const ActivityRow& row) {
  used_device_ = true;
  if (first_event_ == 0 || row.start < first_event_) first_event_ = row.start;
  device_end_ = std::max(device_end_, row.end);
  if (finished_ > 0 && row.end <= finished_) ++late_;
  ran_.add(row.correlation);
  held_.activities.push_back(row);
}

void Segmenter::add_call(const ApiCallRow& row) { held_.api_calls.push_back(row); }

void Segmenter::add_range(const RangeRow& row) {
  if (row.type == RangeType::kEpoch || row.type == RangeType::kProfiler) return;
  if (row.type == RangeType::kStep) {
    has_steps_ = true;
    longest_step_ = std::max(longest_step_, row.end - row.start);
    if (first_event_ == 0 || row.start < first_event_) first_event_ = row.start;
    // Steps tile the main thread's time; one that is out of order would be counted twice.
    if (steps_.empty() || row.start >= steps_.back().end) steps_.push_back(row);
  }
  if (waits_for_input(row)) waits_.push_back({row.start, row.end});
  held_.ranges.push_back(row);
}

bool Segmenter::launches_kernel(recording::NameId call) {
  if (call >= launch_names_.size()) launch_names_.resize(call + 1, 0);
  std::uint8_t& known = launch_names_[call];
  if (known == 0) known = is_launch(context_.names.text(call)) ? 2 : 1;
  return known == 2;
}

TimeNs Segmenter::watermark(TimeNs now) {
  TimeNs mark = now - kArrival;
  for (const ApiCallRow& call : held_.api_calls) {
    if (call.start >= mark || call.start < now - kLongestKernel) continue;
    if (ran_.contains(call.correlation) || call.correlation == 0) continue;
    if (launches_kernel(call.name)) mark = call.start;
  }
  return mark;
}

bool Segmenter::slices_due(TimeNs until) const {
  if (held_.size() > kMostRows) return true;
  if (!has_steps_) return used_device_ && until - std::max(finished_, first_event_) >= kSlice;
  // A step under way is waited for, longer than any before it took.
  return used_device_ && until - finished_ > std::max(30 * kSecond, 5 * longest_step_);
}

std::vector<Segmenter::Piece> Segmenter::due_pieces(TimeNs until, bool everything) {
  std::vector<Piece> pieces;
  TimeNs at = finished_ > 0 ? finished_ : first_event_;
  const auto slice_to = [&](TimeNs to) {
    if (to > at && at > 0) pieces.push_back({.span = {at, to}});
    at = std::max(at, to);
  };
  while (!steps_.empty() && (everything || steps_.front().end <= until)) {
    const RangeRow& step = steps_.front();
    slice_to(step.start);
    const Interval rest{std::max(at, step.start), step.end};
    if (rest.length() > 0) {
      pieces.push_back({.span = rest,
                        .index = step.a,
                        .count = 1,
                        .samples = step.b,
                        .length = step.end - step.start});
      at = step.end;
    }
    steps_.pop_front();
  }
  if (everything) {
    slice_to(device_end_);
  } else if (pieces.empty() && slices_due(until)) {
    slice_to(until);
  }
  return pieces;
}

void Segmenter::advance(TimeNs now) {
  if (first_event_ == 0) {
    forget_idle(now);
    return;
  }
  const TimeNs until = watermark(now);
  const TimeNs begin = finished_ > 0 ? finished_ : first_event_;
  if (until <= begin) return;
  finish_pieces(due_pieces(until, false));
}

std::vector<model::RecordedStep> Segmenter::pending_steps() const {
  std::vector<model::RecordedStep> steps;
  for (const RangeRow& row : steps_) {
    model::RecordedStep step;
    step.device = -1;
    step.index = row.a;
    step.count = 1;
    step.span = {std::max(finished_, row.start), row.end};
    step.longest = row.end - row.start;
    step.samples = row.b;
    if (step.span.length() > 0) steps.push_back(step);
  }
  for (const Interval& wait : waits_) {
    auto step = std::partition_point(steps.begin(), steps.end(), [&wait](const auto& one) {
      return one.span.end <= wait.start;
    });
    for (; step != steps.end() && step->span.start < wait.end; ++step) {
      step->input_wait +=
          std::min(wait.end, step->span.end) - std::max(wait.start, step->span.start);
    }
  }
  return steps;
}

// Neither steps nor GPU work so far: ranges that would stand for causes of theirs are of no use.
void Segmenter::forget_idle(TimeNs now) {
  constexpr std::size_t kFew = 10'000;
  if (held_.ranges.size() < kFew) return;
  std::erase_if(held_.ranges, [&](const RangeRow& row) { return row.end < now - kLongestKernel; });
  while (!waits_.empty() && waits_.front().end < now - kLongestKernel) waits_.pop_front();
}

void Segmenter::finish() {
  if (first_event_ == 0) return;
  finish_pieces(due_pieces(std::numeric_limits<TimeNs>::max(), true));
}

void Segmenter::finish_pieces(std::vector<Piece> pieces) {
  if (pieces.empty()) return;
  for (Piece& piece : pieces) {
    piece.captured = used_device_ && context_.capture.covers(piece.span);
  }
  report(pieces);
  emit_segments(pieces);
  finished_ = pieces.back().span.end;
  forget_before(finished_);
}

bool Segmenter::waits_for_input(const RangeRow& range) const {
  return (range.type == RangeType::kInput || range.type == RangeType::kLoaderStart) &&
         range.thread == static_cast<std::uint32_t>(context_.process.pid);
}

// Spans come in time order; waits are in the order of their ends, and do not overlap.
DurationNs Segmenter::input_wait(Interval span) {
  while (!waits_.empty() && waits_.front().end <= span.start) waits_.pop_front();
  DurationNs sum = 0;
  for (const Interval& wait : waits_) {
    if (wait.start >= span.end) break;
    sum += std::max<DurationNs>(0, std::min(wait.end, span.end) - std::max(wait.start, span.start));
  }
  return sum;
}

// Events of the window, and what tells how its first and last gaps came about.
DetailRows Segmenter::around(Interval window) const {
  DetailRows rows;
  std::unordered_map<std::uint16_t, const ActivityRow*> next;
  for (const ActivityRow& row : held_.activities) {
    if (row.start < window.end) {
      rows.activities.push_back(row);
      continue;
    }
    const ActivityRow*& first = next[row.device];
    if (first == nullptr || row.start < first->start) first = &row;
  }
  for (const auto& [device, row] : next) rows.activities.push_back(*row);
  for (const auto& [device, row] : last_) rows.activities.push_back(row);
  std::vector<std::uint32_t> launched_next;
  for (const auto& [device, row] : next) launched_next.push_back(row->correlation);
  for (const ApiCallRow& row : held_.api_calls) {
    if (row.start < window.end || std::find(launched_next.begin(), launched_next.end(),
                                            row.correlation) != launched_next.end()) {
      rows.api_calls.push_back(row);
    }
  }
  for (const RangeRow& row : held_.ranges) {
    if (row.start < window.end && row.type != RangeType::kStep) rows.ranges.push_back(row);
  }
  return rows;
}

void Segmenter::report(const std::vector<Piece>& pieces) {
  const Interval window{pieces.front().span.start, pieces.back().span.end};
  const bool watched =
      std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.captured; });
  model::RankWaterfall waterfall;
  std::vector<std::int32_t> ordinals;
  if (watched) {
    const DetailRows rows = around(window);
    const model::RankTimeline timeline = recording::make_timeline(
        {rows, context_.names, context_.configs, context_.process, context_.devices},
        recording::TimeMap());
    model::RankAnalysis analysis;
    analysis::classify_names(timeline, analysis);
    std::vector<Interval> spans;
    for (const Piece& piece : pieces) spans.push_back(piece.span);
    waterfall = analysis::waterfall_of(timeline, analysis, window, spans);
    for (const auto& device : waterfall.devices) {
      ordinals.push_back(timeline.devices[device.device].ordinal);
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    model::RecordedStep step;
    step.index = piece.index;
    step.count = piece.count;
    step.span = piece.span;
    step.longest = piece.count > 0 ? piece.length : 0;
    step.samples = piece.samples;
    step.input_wait = input_wait(piece.span);
    step.device = -1;
    if (!piece.captured || waterfall.devices.empty()) {
      on_step_(step);
      continue;
    }
    step.captured = true;
    for (std::size_t d = 0; d < waterfall.devices.size(); ++d) {
      step.device = ordinals[d];
      step.causes = waterfall.devices[d].steps[i];
      on_step_(step);
    }
  }
}

Segment Segmenter::make_segment(const Piece* first, const Piece* last) {
  Segment segment;
  segment.span = {first->span.start, last->span.end};
  segment.first_step = first->index;
  for (const Piece* piece = first; piece <= last; ++piece) {
    segment.steps += piece->count;
    segment.longest = std::max(segment.longest, piece->count > 0 ? piece->length : 0);
  }
  const auto inside = [&segment](TimeNs time) {
    return time >= segment.span.start && time < segment.span.end;
  };
  recording::CorrelationSet running;
  for (const ActivityRow& row : held_.activities) {
    if (!inside(row.start)) continue;
    segment.rows.activities.push_back(row);
    running.add(row.correlation);
  }
  const bool follows = segment.span.start == last_segment_end_;
  for (const ApiCallRow& row : held_.api_calls) {
    const bool launched_before =
        !follows && row.start < segment.span.start && running.contains(row.correlation);
    if (inside(row.start) || launched_before) segment.rows.api_calls.push_back(row);
  }
  for (const RangeRow& row : held_.ranges) {
    if (inside(row.start)) segment.rows.ranges.push_back(row);
  }
  last_segment_end_ = segment.span.end;
  return segment;
}

void Segmenter::emit_segments(const std::vector<Piece>& pieces) {
  const auto keepable = [this](const Piece& piece) { return piece.captured || !used_device_; };
  for (std::size_t i = 0; i < pieces.size();) {
    if (!keepable(pieces[i])) {
      ++i;
      continue;
    }
    std::size_t j = i;
    while (j + 1 < pieces.size() && keepable(pieces[j + 1]) &&
           (pieces[j + 1].count > 0) == (pieces[i].count > 0)) {
      ++j;
    }
    on_segment_(make_segment(&pieces[i], &pieces[j]));
    i = j + 1;
  }
}

void Segmenter::forget_before(TimeNs time) {
  std::erase_if(held_.activities, [&](const ActivityRow& row) {
    if (row.end > time) return false;
    ActivityRow& last = last_[row.device];
    if (row.end > last.end) last = row;
    return true;
  });
  std::erase_if(held_.api_calls, [&](const ApiCallRow& row) {
    // A call is still needed for what it launched and has not run yet.
    const bool waiting = row.end > time - kLongestKernel && !ran_.contains(row.correlation) &&
                         launches_kernel(row.name);
    return row.end <= time && !waiting;
  });
  std::erase_if(held_.ranges, [&](const RangeRow& row) { return row.end <= time; });
  recording::CorrelationSet running;
  for (const ActivityRow& row : held_.activities) running.add(row.correlation);
  recording::CorrelationSet called;
  for (const ApiCallRow& row : held_.api_calls) called.add(row.correlation);
  ran_.keep_if([&](std::uint32_t id) { return running.contains(id) || called.contains(id); });
}

}  // namespace pyrometer::monitor
