#include "analysis/memory_counters.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_counters.h"
#include "analysis/statistics.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;

constexpr std::int64_t kStepsForTrend = 50;  // TraceML: creep is judged over 50 steps
constexpr std::size_t kReadingsForTrend = 10;

// Size of the device that the process had as its current one; absent where it is not known.
std::optional<double> total_memory(const model::RankTimeline& t) {
  std::int32_t ordinal = 0;
  if (const auto told = t.run->info.find("cuda.device"); told != t.run->info.end()) {
    const std::string& text = told->second;
    std::from_chars(text.data(), text.data() + text.size(), ordinal);
  }
  for (const model::Device& device : t.devices) {
    if (device.ordinal == ordinal && device.total_memory_bytes > 0) {
      return static_cast<double>(device.total_memory_bytes);
    }
  }
  return std::nullopt;
}

void set_peaks(const model::RankTimeline& t, const RunCounters& counters, FactWriter& facts) {
  constexpr const char* kNoTotal = "the size of the device's memory was not recorded";
  const auto allocated = counters.latest("process", "memory.allocated_peak_bytes");
  const auto reserved = counters.latest("process", "memory.reserved_peak_bytes");
  const auto total = total_memory(t);
  const auto set = [&](FactId id, std::optional<double> value, const char* reason) {
    if (value) {
      facts.set(id, *value);
    } else {
      facts.missing(id, reason);
    }
  };
  constexpr const char* kNotTold = "the allocator's peak was not told";
  set(FactId::kMemoryPeakAllocated, allocated, kNotTold);
  set(FactId::kMemoryPeakReserved, reserved, kNotTold);
  set(FactId::kMemoryTotal, total, kNoTotal);
  facts.ratio(FactId::kMemoryPeakFraction, allocated.value_or(0), allocated ? total.value_or(0) : 0,
              allocated ? kNoTotal : kNotTold);
  facts.ratio(FactId::kMemoryPeakReservedFraction, reserved.value_or(0),
              reserved ? total.value_or(0) : 0, reserved ? kNoTotal : kNotTold);
  facts.ratio(FactId::kMemoryReservedRatio, reserved.value_or(0),
              reserved ? allocated.value_or(0) : 0, kNotTold);
}

void set_trend(const model::RecordedRun& run, const RunCounters& counters, FactWriter& facts) {
  facts.missing(FactId::kMemoryPeakPeriod, "peaks inside of steps are not told one by one");
  const std::vector<FactId> ids = {FactId::kMemoryGrowthPerStep, FactId::kMemoryGrowthConsistency,
                                   FactId::kMemoryFluctuation};
  const auto points = counters.points("process", "memory.allocated_bytes");
  if (points.size() < kReadingsForTrend || run.steps_total < kStepsForTrend) {
    return facts.missing(ids, "fewer than 10 readings or 50 steps");
  }
  std::vector<double> values;
  for (const model::CounterPoint& point : points) values.push_back(point.value);
  const double slope = robust_slope(values);
  std::size_t along = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if ((values[i] - values[i - 1]) * slope > 0) ++along;
  }
  const auto between = static_cast<double>(points.back().time - points.front().time) /
                       static_cast<double>(points.size() - 1);
  const double step =
      static_cast<double>(counters.window().length()) / static_cast<double>(run.steps_total);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  facts.set(FactId::kMemoryGrowthPerStep, between > 0 ? slope * step / between : 0);
  facts.set(FactId::kMemoryGrowthConsistency,
            static_cast<double>(along) / static_cast<double>(values.size() - 1));
  facts.ratio(FactId::kMemoryFluctuation, *high - *low, *high, "nothing was allocated");
}

}  // namespace

bool measure_memory_counters(const model::RankTimeline& t, FactWriter& facts) {
  if (t.run == nullptr) return false;
  const RunCounters counters(*t.run, training_span(*t.run));
  if (counters.find("process", "memory.allocated_bytes") == nullptr) return false;
  set_peaks(t, counters, facts);
  set_trend(*t.run, counters, facts);
  return true;
}

}  // namespace pyrometer::analysis
