#include "tune/result.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "tune/front.h"

namespace pyrometer::tune {
namespace {

using Figure = std::function<std::optional<double>(const Measurement&)>;

// The trial that tells most of a configuration: one that worked before one that did not only where
// it was not followed by a failure, the longer one, the later one.
bool tells_more(const Measurement& a, const Measurement& b) {
  return std::pair(a.rung, a.is_final ? a.round + 1 : 0) >=
         std::pair(b.rung, b.is_final ? b.round + 1 : 0);
}

int group_of(const Tried& one) {
  switch (one.last.outcome) {
    case Outcome::kMeasured:
      return one.cost ? 0 : 1;
    case Outcome::kNotReached:
      return 2;
    case Outcome::kOutOfMemory:
      return 3;
    case Outcome::kExcluded:
      return 4;
    case Outcome::kFailed:
      return 5;
  }
  return 5;
}

void add_front(TuneResult& result, std::string_view id, std::string_view title,
               const Figure& figure) {
  Front front{.id = id, .title = title};
  std::vector<Tradeoff> points;
  for (std::size_t i = 0; i < result.tried.size(); ++i) {
    const Measurement& one = result.tried[i].last;
    if (one.outcome != Outcome::kMeasured && one.outcome != Outcome::kNotReached) continue;
    const auto gain = samples_per_second(one);
    const auto cost = figure(one);
    if (!gain || !cost) continue;
    front.all.push_back(i);
    points.push_back({*gain, *cost});
  }
  if (front.all.size() < 2) return;
  for (const std::size_t i : pareto_front(points)) front.members.push_back(front.all[i]);
  result.fronts.push_back(std::move(front));
}

}  // namespace

void arrange(TuneResult& result) {
  std::map<Point, Tried> by_point;
  for (const Measurement& one : result.all) {
    const auto [at, is_new] = by_point.try_emplace(one.point, Tried{.last = one});
    if (!is_new && tells_more(one, at->second.last)) at->second.last = one;
    if (one.outcome != Outcome::kExcluded) ++at->second.trials;
  }
  result.tried.clear();
  for (auto& [point, tried] : by_point) {
    const bool measured = tried.last.outcome == Outcome::kMeasured;
    if (measured) tried.cost = cost_of(tried.last, result.objective);
    result.tried.push_back(std::move(tried));
  }
  std::stable_sort(result.tried.begin(), result.tried.end(), [](const Tried& a, const Tried& b) {
    return std::pair(group_of(a), a.cost.value_or(0)) < std::pair(group_of(b), b.cost.value_or(0));
  });
  result.fronts.clear();
  add_front(result, "peak_memory_bytes", "peak memory",
            [](const Measurement& one) { return one.peak_memory; });
  add_front(result, "usd_per_million_samples", "USD/1M samples",
            [](const Measurement& one) -> std::optional<double> {
              constexpr double kMillion = 1e6;
              const auto usd = usd_per_sample(one);
              return usd ? std::optional(*usd * kMillion) : std::nullopt;
            });
  add_front(result, "joules_per_sample", "J/sample", joules_per_sample);
}

}  // namespace pyrometer::tune
