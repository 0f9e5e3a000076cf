#include "analysis/steps.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/step_repetition.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using model::Index;
using model::Interval;
using model::kNone;
using model::Step;
using model::Steps;
using model::StepSource;
using model::TimeNs;

constexpr std::string_view kMarker = "ProfilerStep#";
constexpr TimeNs kFirst = std::numeric_limits<TimeNs>::max();
constexpr TimeNs kLast = std::numeric_limits<TimeNs>::min();

// First start to last end of the device activities, else of the host events.
std::optional<Interval> active_span(const model::RankTimeline& t) {
  Interval span{kFirst, kLast};
  const auto cover = [&span](const auto& table) {
    for (Index i = 0; i < table.size(); ++i) {
      span.start = std::min(span.start, table.start[i]);
      span.end = std::max(span.end, table.end[i]);
    }
  };
  cover(t.activities);
  if (span.start > span.end) {
    cover(t.host_ops);
    cover(t.api_calls);
    cover(t.annotations);
  }
  if (span.start > span.end) return std::nullopt;
  return span;
}

std::vector<Step> marked_steps(const model::RankTimeline& t) {
  std::vector<Step> steps;
  if (t.threads.empty()) return steps;
  const model::RowRange rows = t.threads[t.main_thread].annotations;
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::string_view name = t.name(t.annotations.name[i]);
    if (!name.starts_with(kMarker)) continue;
    Step step;
    const std::string_view digits = name.substr(kMarker.size());
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), step.number);
    step.marker = {t.annotations.start[i], t.annotations.end[i]};
    // A marker inside the one before it (nested profilers) begins no step.
    if (!steps.empty() && step.marker.start < steps.back().marker.end) continue;
    steps.push_back(step);
  }
  return steps;
}

// End of the device work that was launched from within `marker`.
TimeNs device_end(const model::RankTimeline& t, Interval marker) {
  TimeNs end = marker.end;
  for (Index i = 0; i < t.activities.size(); ++i) {
    const Index call = t.activities.launch[i];
    if (call == kNone) continue;
    const TimeNs launched = t.api_calls.start[call];
    if (launched >= marker.start && launched < marker.end) end = std::max(end, t.activities.end[i]);
  }
  return end;
}

// How long the device goes on after `start` with work that was launched before: its launch call
// lies before, or the trace has none and the stream had no other yet.
model::DurationNs backlog_after(const model::RankTimeline& t, TimeNs start) {
  TimeNs end = start;
  for (const model::Device& device : t.devices) {
    std::set<std::int32_t> streams;  // with a launch seen
    for (Index i = device.activities.begin; i < device.activities.end; ++i) {
      const Index call = t.activities.launch[i];
      const bool before = call == kNone ? !streams.contains(t.activities.stream[i])
                                        : t.api_calls.start[call] < start;
      if (call != kNone) streams.insert(t.activities.stream[i]);
      if (before) end = std::max(end, t.activities.end[i]);
    }
  }
  return end - start;
}

void tile(std::vector<Step>& steps, TimeNs end) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].span = {steps[i].marker.start, i + 1 < steps.size() ? steps[i + 1].marker.start : end};
  }
}

// Steps between consecutive boundaries.
std::vector<Step> steps_between(const std::vector<TimeNs>& boundaries) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
    Step step;
    step.number = static_cast<std::int64_t>(i);
    step.span = {boundaries[i], boundaries[i + 1]};
    step.marker = step.span;
    steps.push_back(step);
  }
  return steps;
}

// Ends of the optimizer ranges that close a step. With several optimizers (a GAN's two, say) the
// one that comes last in the cycle counts: of those with the most steps, the last to end first.
std::vector<TimeNs> optimizer_boundaries(const model::RankTimeline& t) {
  std::map<std::string_view, std::vector<TimeNs>> ends;
  for (Index i = 0; i < t.annotations.size(); ++i) {
    const std::string_view name = t.name(t.annotations.name[i]);
    if (name.starts_with("Optimizer.step#")) ends[name].push_back(t.annotations.end[i]);
  }
  const std::vector<TimeNs>* chosen = nullptr;
  for (auto& [name, times] : ends) {
    std::sort(times.begin(), times.end());
    if (chosen == nullptr || times.size() > chosen->size() ||
        (times.size() == chosen->size() && times.front() > chosen->front())) {
      chosen = &times;
    }
  }
  constexpr std::size_t kMinBoundaries = 3;  // two whole steps
  return chosen != nullptr && chosen->size() >= kMinBoundaries ? *chosen : std::vector<TimeNs>{};
}

std::string how_marked(const model::RankTimeline& t) {
  if (t.run == nullptr) return "steps from the profiler's ProfilerStep markers";
  for (Index i = 0; i < t.annotations.size(); ++i) {
    if (t.name(t.annotations.name[i]).starts_with("Optimizer.step#")) {
      return "a step ends with the optimizer's step, as the Python hook saw it";
    }
  }
  return "steps as the Python hook marked them";
}

model::StepStats stats_of(const std::vector<Step>& steps, model::DurationNs backlog) {
  model::StepStats stats;
  if (steps.empty()) return stats;
  std::vector<model::DurationNs> lengths;
  for (const Step& step : steps) lengths.push_back(step.span.length());
  std::sort(lengths.begin(), lengths.end());
  const std::size_t n = lengths.size();
  stats.mean =
      (steps.back().span.end - steps.front().span.start - backlog) / static_cast<TimeNs>(n);
  stats.p50 = lengths[(n - 1) / 2];
  stats.p95 = lengths[(n * 95 + 99) / 100 - 1];
  stats.min = lengths.front();
  stats.max = lengths.back();
  return stats;
}

Steps steps_without_markers(const model::RankTimeline& t, const model::RankAnalysis& a) {
  Steps result;
  if (const auto span = active_span(t)) result.window = *span;
  std::vector<TimeNs> boundaries = optimizer_boundaries(t);
  if (!boundaries.empty()) {
    result.source = StepSource::kOptimizer;
    result.how = "steps from the ends of Optimizer.step ranges (no step markers were recorded)";
  } else {
    boundaries = repetition_boundaries(t, a);
    if (!boundaries.empty()) {
      result.source = StepSource::kRepetition;
      result.how = "steps from the repeating launch sequence (no step markers were recorded)";
    }
  }
  // Launches may lie before the first device activity or after the last.
  std::vector<TimeNs> inside;
  for (const TimeNs b : boundaries) {
    inside.push_back(std::clamp(b, result.window.start, result.window.end));
  }
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  result.steps = steps_between(inside);
  if (!result.steps.empty()) {
    // What lies outside the steps happens once, not in every step: start-up and cut-off steps.
    result.window = {result.steps.front().span.start, result.steps.back().span.end};
  } else {
    result.source = StepSource::kNotFound;
    result.how = "no steps found: no step markers, no optimizer ranges, no repeating sequence";
  }
  return result;
}

void set_facts(const Steps& steps, model::FactSet& facts) {
  facts.set(FactId::kStepsWindow, static_cast<double>(steps.window.length()));
  if (steps.steps.empty()) {
    for (const FactId id : {FactId::kStepsCount, FactId::kStepsMean, FactId::kStepsP50,
                            FactId::kStepsP95, FactId::kStepsMax}) {
      facts.set_missing(id, steps.how);
    }
    return;
  }
  facts.set(FactId::kStepsCount, static_cast<double>(steps.steps.size()));
  facts.set(FactId::kStepsMean, static_cast<double>(steps.stats.mean));
  facts.set(FactId::kStepsP50, static_cast<double>(steps.stats.p50));
  facts.set(FactId::kStepsP95, static_cast<double>(steps.stats.p95));
  facts.set(FactId::kStepsMax, static_cast<double>(steps.stats.max));
}

}  // namespace

void find_steps(const model::RankTimeline& t, model::RankAnalysis& a) {
  Steps result;
  result.steps = marked_steps(t);
  if (!result.steps.empty()) {
    result.source = t.run != nullptr ? StepSource::kHook : StepSource::kProfilerMarkers;
    result.how = how_marked(t);
    tile(result.steps, device_end(t, result.steps.back().marker));
    result.window = {result.steps.front().span.start, result.steps.back().span.end};
    const model::DurationNs tail = result.window.end - result.steps.back().marker.end;
    result.backlog = std::min(backlog_after(t, result.window.start), tail);
  } else {
    result = steps_without_markers(t, a);
  }
  result.recorded = active_span(t).value_or(Interval{});
  result.stats = stats_of(result.steps, result.backlog);
  set_facts(result, a.facts);
  a.steps = std::move(result);
}

}  // namespace pyrometer::analysis
