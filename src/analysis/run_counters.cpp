#include "analysis/run_counters.h"

#include <algorithm>
#include <charconv>

namespace pyrometer::analysis {

using model::CounterPoint;
using model::CounterSummary;
using model::CounterText;
using model::DurationNs;
using model::Interval;
using model::TimeNs;

Interval training_span(const model::RecordedRun& run) {
  constexpr std::int64_t kWarmUp = 3;
  Interval span;
  std::int64_t steps = 0;
  TimeNs first_end = 0;
  for (const model::RecordedStep& step : run.steps) {
    if (step.count == 0) continue;  // time outside of steps
    if (steps == 0) {
      span = step.span;
      // Short steps share a row: the first of them ends early in it.
      first_end = step.span.start + step.span.length() / step.count;
    }
    span.end = std::max(span.end, step.span.end);
    steps += step.count;
  }
  if (steps >= kWarmUp) span.start = std::min(first_end, span.end);
  return span;
}

const CounterSummary* RunCounters::find(std::string_view object, std::string_view name) const {
  const auto at =
      std::find_if(run_.counters.begin(), run_.counters.end(), [&](const CounterSummary& counter) {
        return counter.name == name && counter.object == object;
      });
  return at == run_.counters.end() ? nullptr : &*at;
}

const CounterText* RunCounters::find_text(std::string_view object, std::string_view name) const {
  const auto at = std::find_if(run_.texts.begin(), run_.texts.end(), [&](const CounterText& text) {
    return text.name == name && text.object == object;
  });
  return at == run_.texts.end() ? nullptr : &*at;
}

std::vector<CounterPoint> RunCounters::points(std::string_view object,
                                              std::string_view name) const {
  std::vector<CounterPoint> inside;
  const CounterSummary* counter = find(object, name);
  if (counter == nullptr) return inside;
  for (const CounterPoint& point : counter->points) {
    if (point.time >= window_.start && point.time <= window_.end) inside.push_back(point);
  }
  return inside;
}

std::optional<RunCounters::Gauge> RunCounters::gauge(std::string_view object, std::string_view name,
                                                     std::size_t least) const {
  const std::vector<CounterPoint> inside = points(object, name);
  if (inside.empty() || inside.size() < least) return std::nullopt;
  Gauge gauge{.mean = 0,
              .min = inside.front().value,
              .max = inside.front().value,
              .last = inside.back().value};
  for (const CounterPoint& point : inside) {
    gauge.mean += point.value / static_cast<double>(inside.size());
    gauge.min = std::min(gauge.min, point.value);
    gauge.max = std::max(gauge.max, point.value);
  }
  return gauge;
}

std::optional<double> RunCounters::rate(std::string_view object, std::string_view name) const {
  const CounterSummary* counter = find(object, name);
  if (counter == nullptr || counter->points.size() < 2) return std::nullopt;
  const std::vector<CounterPoint>& all = counter->points;
  const TimeNs from = std::max(window_.start, all.front().time);
  const TimeNs to = std::min(window_.end, all.back().time);
  // Both lie within the window from here on; in a damaged file readings may have any time.
  if (to <= from || to - from < kLeastSpan) return std::nullopt;
  const auto value_at = [&](TimeNs time) {
    const auto after =
        std::upper_bound(all.begin(), all.end(), time,
                         [](TimeNs t, const CounterPoint& point) { return t < point.time; });
    if (after == all.end()) return all.back().value;
    const CounterPoint& a = *(after - 1);
    const double part = (static_cast<double>(time) - static_cast<double>(a.time)) /
                        (static_cast<double>(after->time) - static_cast<double>(a.time));
    return a.value + part * (after->value - a.value);
  };
  // A number that fell was begun anew (a driver was loaded again): nothing can be said.
  const double grown = value_at(to) - value_at(from);
  if (grown < 0) return std::nullopt;
  return grown / static_cast<double>(to - from);
}

std::optional<double> RunCounters::growth(std::string_view object, std::string_view name) const {
  const CounterSummary* counter = find(object, name);
  if (counter == nullptr) return std::nullopt;
  return std::max(0.0, counter->last - counter->first);
}

std::optional<double> RunCounters::latest(std::string_view object, std::string_view name) const {
  const CounterSummary* counter = find(object, name);
  if (counter == nullptr) return std::nullopt;
  return counter->last;
}

std::string RunCounters::text(std::string_view object, std::string_view name) const {
  const CounterText* text = find_text(object, name);
  if (text == nullptr) return {};
  for (auto change = text->changes.rbegin(); change != text->changes.rend(); ++change) {
    if (!change->is_reason) return change->text;
  }
  return {};
}

std::string RunCounters::reason(std::string_view object, std::string_view name) const {
  const CounterText* text = find_text(object, name);
  if (text == nullptr || text->changes.empty() || !text->changes.back().is_reason) return {};
  return text->changes.back().text;
}

std::optional<std::int64_t> number_after(std::string_view object, std::string_view prefix) {
  if (!object.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = object.substr(prefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace pyrometer::analysis
