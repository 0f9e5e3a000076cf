// What passes share about the analysed window: rows in it, clipping, per-step and share facts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Rows of a range sorted by `start` that start within `window`.
[[nodiscard]] inline model::RowRange rows_within(const std::vector<model::TimeNs>& start,
                                                 model::RowRange rows, model::Interval window) {
  const auto first = start.begin() + rows.begin;
  const auto last = start.begin() + rows.end;
  const auto begin = std::lower_bound(first, last, window.start);
  const auto end = std::lower_bound(begin, last, window.end);
  return {static_cast<model::Index>(begin - start.begin()),
          static_cast<model::Index>(end - start.begin())};
}

// Length of [start, end) within `window`.
[[nodiscard]] inline model::DurationNs clipped(model::TimeNs start, model::TimeNs end,
                                               model::Interval window) {
  return std::max<model::DurationNs>(0, std::min(end, window.end) - std::max(start, window.start));
}

[[nodiscard]] inline bool contains(model::Interval window, model::TimeNs time) {
  return time >= window.start && time < window.end;
}

// From the first step's start to the last one's end; empty without steps. Smaller than the window
// where the steps do not reach its ends.
[[nodiscard]] inline model::Interval stepped_span(const model::Steps& steps) {
  if (steps.steps.empty()) return {};
  return {steps.steps.front().span.start, steps.steps.back().span.end};
}

// The steps without the first, which is often a warm-up, when there are at least three.
[[nodiscard]] inline std::size_t first_steady_step(const model::Steps& steps) {
  return steps.steps.size() >= 3 ? 1 : 0;
}

// A step's length for comparing steps. The last one's span also holds the work that was still
// queued when the trace ended, which says nothing about that step: its marker counts.
[[nodiscard]] inline model::DurationNs comparable_length(const model::Steps& steps,
                                                         std::size_t step) {
  const model::Step& one = steps.steps[step];
  return step + 1 < steps.steps.size() ? one.span.length() : one.marker.length();
}

// The step that `time` falls into, or the number of steps.
[[nodiscard]] inline std::size_t step_at(const model::Steps& steps, model::TimeNs time) {
  const auto& all = steps.steps;
  const auto after =
      std::upper_bound(all.begin(), all.end(), time,
                       [](model::TimeNs t, const model::Step& s) { return t < s.span.start; });
  if (after == all.begin()) return all.size();
  const auto step = after - 1;
  return time < step->span.end ? static_cast<std::size_t>(step - all.begin()) : all.size();
}

// The step whose code launched an activity, or the number of steps. In a trace with API calls one
// whose launch was not seen was launched before the trace began; without API calls, the activity's
// own start must do.
[[nodiscard]] inline std::size_t step_of_activity(const model::RankTimeline& timeline,
                                                  const model::Steps& steps,
                                                  model::Index activity) {
  const model::Index call = timeline.activities.launch[activity];
  if (call != model::kNone) return step_at(steps, timeline.api_calls.start[call]);
  if (timeline.api_calls.size() > 0) return steps.steps.size();
  return step_at(steps, timeline.activities.start[activity]);
}

// Devices on which something ran within the window.
[[nodiscard]] inline std::int64_t active_devices(const model::RankTimeline& timeline,
                                                 model::Interval window) {
  return std::count_if(
      timeline.devices.begin(), timeline.devices.end(), [&](const model::Device& device) {
        return rows_within(timeline.activities.start, device.activities, window).size() > 0;
      });
}

// Writes facts that are relative to the window, its devices or its steps.
class FactWriter {
 public:
  FactWriter(const model::RankTimeline& timeline, const model::Steps& steps, model::FactSet& facts)
      : facts_(facts),
        host_time_(static_cast<double>(steps.window.length())),
        device_time_(host_time_ * static_cast<double>(active_devices(timeline, steps.window))),
        steps_(static_cast<double>(steps.steps.size())) {}

  void set(model::FactId id, double value) { facts_.set(id, value); }
  void set_text(model::FactId id, std::string text) { facts_.set_text(id, std::move(text)); }
  void missing(model::FactId id, std::string reason) { facts_.set_missing(id, std::move(reason)); }
  void missing(const std::vector<model::FactId>& ids, const std::string& reason) {
    for (const model::FactId id : ids) facts_.set_missing(id, reason);
  }

  // Every fact of one pass.
  void all_missing(std::string_view source, const std::string& reason) {
    for (std::size_t i = 0; i < model::kFactCount; ++i) {
      const auto id = static_cast<model::FactId>(i);
      if (model::fact_info(id).source == source) facts_.set_missing(id, reason);
    }
  }

  // numerator / denominator, or missing when there is nothing to divide by.
  void ratio(model::FactId id, double numerator, double denominator, const char* reason) {
    if (denominator > 0) {
      facts_.set(id, numerator / denominator);
    } else {
      facts_.set_missing(id, reason);
    }
  }
  // ns on one device, of the window; of all devices' time when several were active.
  void device_share(model::FactId id, model::DurationNs time) {
    ratio(id, static_cast<double>(time), device_time_, "no device activity in the window");
  }
  // ns of one host thread, of the window.
  void host_share(model::FactId id, model::DurationNs time) {
    ratio(id, static_cast<double>(time), host_time_, "the window is empty");
  }
  // A count (bytes, ns …) of what was issued within the steps.
  void per_step(model::FactId id, double count) { ratio(id, count, steps_, "no steps found"); }

 private:
  model::FactSet& facts_;
  double host_time_;
  double device_time_;
  double steps_;
};

}  // namespace pyrometer::analysis
