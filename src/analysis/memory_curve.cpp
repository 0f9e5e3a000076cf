#include "analysis/memory_curve.h"

#include <algorithm>
#include <vector>

#include "analysis/memory_counters.h"
#include "analysis/periods.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using model::Index;
using model::MemoryCurve;
using model::MemoryPoint;

constexpr std::size_t kMaxPoints = 400;
constexpr double kPeakExcess = 1.2;  // over the median step

// Allocated memory within one step; -1 when no event told.
struct StepMemory {
  double least = -1;
  double most = -1;
};

// Rows of the memory table of one device that give totals, by time.
std::vector<Index> rows_of(const model::MemoryTable& memory, std::int32_t ordinal) {
  std::vector<Index> rows;
  for (Index i = 0; i < memory.size(); ++i) {
    if (memory.device[i] == ordinal && memory.total_allocated[i] >= 0) rows.push_back(i);
  }
  return rows;
}

MemoryPoint point(const model::MemoryTable& memory, Index row) {
  return {memory.time[row], memory.total_allocated[row], memory.total_reserved[row]};
}

// Keeps the lowest and the highest allocation of each of equal slices of time.
std::vector<MemoryPoint> thinned(const model::MemoryTable& memory, const std::vector<Index>& rows) {
  std::vector<MemoryPoint> curve;
  if (rows.size() <= kMaxPoints) {
    for (const Index row : rows) curve.push_back(point(memory, row));
    return curve;
  }
  constexpr std::size_t kSlices = kMaxPoints / 2;
  const model::TimeNs first = memory.time[rows.front()];
  const auto span = static_cast<double>(memory.time[rows.back()] - first + 1);
  const auto slice_of = [&](Index row) {
    return static_cast<std::size_t>(static_cast<double>(memory.time[row] - first) / span *
                                    static_cast<double>(kSlices));
  };
  const auto less = [&](Index x, Index y) {
    return memory.total_allocated[x] < memory.total_allocated[y];
  };
  for (std::size_t from = 0; from < rows.size();) {
    std::size_t to = from + 1;
    while (to < rows.size() && slice_of(rows[to]) == slice_of(rows[from])) ++to;
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(to);
    const auto [low, high] = std::minmax_element(begin, end, less);
    curve.push_back(point(memory, *std::min(low, high)));
    if (low != high) curve.push_back(point(memory, *std::max(low, high)));
    from = to;
  }
  return curve;
}

// A step without events holds what the one before it ended with.
std::vector<StepMemory> by_step(const model::MemoryTable& memory, const std::vector<Index>& rows,
                                const model::Steps& steps) {
  std::vector<StepMemory> result(steps.steps.size());
  double now = -1;
  std::size_t next = 0;
  for (std::size_t s = 0; s < result.size(); ++s) {
    const model::Interval span = steps.steps[s].span;
    StepMemory& step = result[s];
    const auto see = [&step](double value) {
      if (value < 0) return;
      step.least = step.least < 0 ? value : std::min(step.least, value);
      step.most = std::max(step.most, value);
    };
    while (next < rows.size() && memory.time[rows[next]] < span.start) {
      now = static_cast<double>(memory.total_allocated[rows[next++]]);
    }
    see(now);
    while (next < rows.size() && memory.time[rows[next]] < span.end) {
      now = static_cast<double>(memory.total_allocated[rows[next++]]);
      see(now);
    }
  }
  return result;
}

// Of the steady steps: growth and its consistency go into the curve.
std::vector<StepMemory> steady_steps(const std::vector<StepMemory>& all,
                                     const model::Steps& steps) {
  std::vector<StepMemory> steady;
  for (std::size_t s = first_steady_step(steps); s < all.size(); ++s) {
    if (all[s].least >= 0) steady.push_back(all[s]);
  }
  return steady;
}

void measure_growth(const std::vector<StepMemory>& steady, MemoryCurve& curve) {
  std::vector<double> least;
  for (const StepMemory& step : steady) least.push_back(step.least);
  curve.growth_per_step = robust_slope(least);
  double along = 0;
  for (std::size_t i = 1; i < least.size(); ++i) {
    if ((least[i] - least[i - 1]) * curve.growth_per_step > 0) ++along;
  }
  if (least.size() > 1) curve.growth_r = along / static_cast<double>(least.size() - 1);
}

MemoryCurve curve_of(const model::RankTimeline& t, std::size_t device,
                     const std::vector<Index>& rows) {
  MemoryCurve curve;
  curve.device = static_cast<model::DeviceId>(device);
  curve.total = t.devices[device].total_memory_bytes;
  curve.recorded = !rows.empty();
  for (const Index row : rows) {
    const bool higher = t.memory.total_allocated[row] > curve.peak_allocated;
    curve.peak_reserved = std::max(curve.peak_reserved, t.memory.total_reserved[row]);
    if (!higher) continue;
    curve.peak_allocated = t.memory.total_allocated[row];
    curve.reserved_at_peak = t.memory.total_reserved[row];
  }
  curve.curve = thinned(t.memory, rows);
  return curve;
}

void set_peak_facts(const MemoryCurve& curve, FactWriter& facts) {
  constexpr const char* kNoTotal = "the size of the device's memory was not recorded";
  const auto total = static_cast<double>(curve.total);
  const auto allocated = static_cast<double>(curve.peak_allocated);
  facts.set(FactId::kMemoryPeakAllocated, allocated);
  facts.ratio(FactId::kMemoryPeakFraction, allocated, total, kNoTotal);
  if (curve.total > 0) {
    facts.set(FactId::kMemoryTotal, total);
  } else {
    facts.missing(FactId::kMemoryTotal, kNoTotal);
  }
  if (curve.peak_reserved < 0) {
    facts.missing({FactId::kMemoryPeakReserved, FactId::kMemoryPeakReservedFraction,
                   FactId::kMemoryReservedRatio},
                  "reserved memory was not recorded");
    return;
  }
  facts.set(FactId::kMemoryPeakReserved, static_cast<double>(curve.peak_reserved));
  facts.ratio(FactId::kMemoryPeakReservedFraction, static_cast<double>(curve.peak_reserved), total,
              kNoTotal);
  facts.ratio(FactId::kMemoryReservedRatio, static_cast<double>(curve.reserved_at_peak), allocated,
              "nothing was allocated");
}

void set_step_facts(const std::vector<StepMemory>& steady, const MemoryCurve& curve,
                    FactWriter& facts) {
  const std::vector<FactId> ids = {FactId::kMemoryGrowthPerStep, FactId::kMemoryGrowthConsistency,
                                   FactId::kMemoryFluctuation, FactId::kMemoryPeakPeriod};
  if (steady.size() < 2) {
    facts.missing(ids, "fewer than two steady steps");
    return;
  }
  std::vector<double> peaks;
  for (const StepMemory& step : steady) peaks.push_back(step.most);
  const auto [low, high] = std::minmax_element(peaks.begin(), peaks.end());
  const double usual = median(peaks);
  std::vector<std::size_t> high_steps;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (peaks[i] > usual * kPeakExcess) high_steps.push_back(i);
  }
  facts.set(FactId::kMemoryGrowthPerStep, curve.growth_per_step);
  facts.set(FactId::kMemoryGrowthConsistency, curve.growth_r);
  facts.ratio(FactId::kMemoryFluctuation, *high - *low, *high, "nothing was allocated");
  facts.set(FactId::kMemoryPeakPeriod, static_cast<double>(even_spacing(high_steps, peaks.size())));
}

}  // namespace

void measure_memory(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.transfers.memory.clear();
  std::size_t fullest = t.devices.size();
  std::vector<StepMemory> steady;
  for (std::size_t d = 0; d < t.devices.size(); ++d) {
    const std::vector<Index> rows = rows_of(t.memory, t.devices[d].ordinal);
    MemoryCurve curve = curve_of(t, d, rows);
    const auto steps = steady_steps(by_step(t.memory, rows, a.steps), a.steps);
    measure_growth(steps, curve);
    if (curve.recorded && (fullest == t.devices.size() ||
                           curve.peak_allocated > a.transfers.memory[fullest].peak_allocated)) {
      fullest = d;
      steady = steps;
    }
    a.transfers.memory.push_back(std::move(curve));
  }
  if (fullest == t.devices.size()) {
    if (measure_memory_counters(t, facts)) return;
    facts.all_missing("memory_curve",
                      t.run != nullptr
                          ? "memory was not recorded"
                          : "the profiler did not record memory (profile_memory is off)");
    return;
  }
  set_peak_facts(a.transfers.memory[fullest], facts);
  set_step_facts(steady, a.transfers.memory[fullest], facts);
}

}  // namespace pyrometer::analysis
