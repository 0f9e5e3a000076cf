#include "tune/result.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tune/front.h"

namespace pyrometer::tune {
namespace {

constexpr std::string_view kMemory = "peak_memory_bytes";
constexpr std::string_view kMoney = "usd_per_million_samples";
constexpr std::string_view kEnergy = "joules_per_sample";

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

void add_front(TuneResult& result, std::string_view id, std::string_view title) {
  Front front{.id = id, .title = title};
  std::vector<Tradeoff> points;
  for (std::size_t i = 0; i < result.tried.size(); ++i) {
    const Measurement& one = result.tried[i].last;
    if (one.outcome != Outcome::kMeasured && one.outcome != Outcome::kNotReached) continue;
    const auto gain = samples_per_second(one);
    const auto cost = cost_on(front, one);
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
  add_front(result, kMemory, "peak memory");
  add_front(result, kMoney, "USD/1M samples");
  add_front(result, kEnergy, "J/sample");
}

std::string_view id_of(FinalVerdict verdict) {
  switch (verdict) {
    case FinalVerdict::kBetter:
      return "better";
    case FinalVerdict::kSame:
      return "same";
    case FinalVerdict::kWorse:
      return "worse";
    case FinalVerdict::kUndecided:
      return "undecided";
    case FinalVerdict::kRejected:
      return "rejected";
  }
  return "";
}

std::optional<double> cost_on(const Front& front, const Measurement& one) {
  if (front.id == kMemory) return one.peak_memory;
  if (front.id == kMoney) return usd_per_million_samples(one);
  return joules_per_sample(one);
}

std::int64_t trials_of(const TuneResult& result) {
  return std::count_if(result.all.begin(), result.all.end(),
                       [](const Measurement& one) { return one.outcome != Outcome::kExcluded; });
}

}  // namespace pyrometer::tune
