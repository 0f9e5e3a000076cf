#include "analysis/step_repetition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::NameId;
using model::TimeNs;

// One launch: what and when (host time of the launch, else start on the device).
struct Launch {
  TimeNs time = 0;
  NameId name = 0;
};

// Launches of the busiest stream (by count, communication apart), in issue order.
std::vector<Launch> main_sequence(const model::RankTimeline& t, const model::RankAnalysis& a) {
  std::unordered_map<std::int64_t, Index> counts;
  const auto key = [&](Index i) {
    return (std::int64_t{t.activities.device[i]} << 32) ^ t.activities.stream[i];
  };
  const auto counted = [&](Index i) {
    return t.activities.kind[i] == model::ActivityKind::kKernel &&
           a.kernel_traits[t.activities.name[i]].klass != model::KernelClass::kComm;
  };
  for (Index i = 0; i < t.activities.size(); ++i) {
    if (counted(i)) ++counts[key(i)];
  }
  std::int64_t busiest = 0;
  Index most = 0;
  for (const auto& [stream, count] : counts) {
    if (count > most || (count == most && stream < busiest)) {
      busiest = stream;
      most = count;
    }
  }
  std::vector<Launch> sequence;
  sequence.reserve(most);
  for (Index i = 0; i < t.activities.size(); ++i) {
    if (!counted(i) || key(i) != busiest) continue;
    const Index call = t.activities.launch[i];
    const TimeNs time = call == model::kNone ? t.activities.start[i] : t.api_calls.start[call];
    sequence.push_back({time, t.activities.name[i]});
  }
  return sequence;  // one stream runs in issue order
}

// Share of positions whose name comes again one period later.
double agreement(const std::vector<Launch>& s, std::size_t period) {
  std::size_t same = 0;
  const std::size_t n = s.size() - period;
  for (std::size_t i = 0; i < n; ++i) same += s[i].name == s[i + period].name ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(n);
}

using Positions = std::unordered_map<NameId, std::vector<Index>>;

// Median distances between the occurrences of rare names: the periods worth a test.
std::vector<std::size_t> candidate_periods(const Positions& positions) {
  constexpr std::size_t kMinRepeats = 3;
  constexpr std::size_t kMaxCandidates = 24;
  std::vector<const std::vector<Index>*> rare;
  for (const auto& [name, at] : positions) {
    if (at.size() >= kMinRepeats) rare.push_back(&at);
  }
  std::sort(rare.begin(), rare.end(), [](const auto* x, const auto* y) {
    return x->size() != y->size() ? x->size() < y->size() : x->front() < y->front();
  });
  std::vector<std::size_t> periods;
  for (const auto* at : rare) {
    std::vector<std::size_t> gaps;
    for (std::size_t i = 1; i < at->size(); ++i) gaps.push_back((*at)[i] - (*at)[i - 1]);
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2),
                     gaps.end());
    const std::size_t period = gaps[gaps.size() / 2];
    if (std::find(periods.begin(), periods.end(), period) == periods.end()) {
      periods.push_back(period);
    }
    if (periods.size() == kMaxCandidates) break;
  }
  return periods;
}

std::size_t best_period(const std::vector<Launch>& s, const Positions& positions) {
  constexpr double kMinAgreement = 0.8;  // most of the run repeats
  constexpr double kTolerance = 0.03;  // a multiple of the period agrees as well: take the shortest
  std::vector<std::pair<std::size_t, double>> scored;
  double best = 0;
  for (const std::size_t period : candidate_periods(positions)) {
    if (period * 3 > s.size()) continue;
    const double score = agreement(s, period);
    scored.emplace_back(period, score);
    best = std::max(best, score);
  }
  if (best < kMinAgreement) return 0;
  std::size_t found = 0;
  for (const auto& [period, score] : scored) {
    if (score + kTolerance >= best && (found == 0 || period < found)) found = period;
  }
  return found;
}

}  // namespace

std::vector<TimeNs> repetition_boundaries(const model::RankTimeline& t,
                                          const model::RankAnalysis& a) {
  const std::vector<Launch> s = main_sequence(t, a);
  constexpr std::size_t kMinLaunches = 9;
  if (s.size() < kMinLaunches) return {};
  Positions positions;
  for (std::size_t i = 0; i < s.size(); ++i) {
    positions[s[i].name].push_back(static_cast<Index>(i));
  }
  const std::size_t period = best_period(s, positions);
  if (period == 0) return {};

  // The anchor occurs once per period; where several do, the one after the longest pause begins the
  // iteration (the loop's own overhead lies there).
  const double expected = static_cast<double>(s.size()) / static_cast<double>(period);
  const std::vector<Index>* anchor = nullptr;
  double longest = -1;
  for (const auto& [name, at] : positions) {
    if (std::abs(static_cast<double>(at.size()) - expected) > 1.0 || at.size() < 3) continue;
    double pause = 0;
    for (const Index i : at) {
      if (i > 0) pause += static_cast<double>(s[i].time - s[i - 1].time);
    }
    pause /= static_cast<double>(at.size());
    if (pause > longest || (pause == longest && at.front() < anchor->front())) {
      longest = pause;
      anchor = &at;
    }
  }
  std::vector<TimeNs> boundaries;
  if (anchor != nullptr) {
    for (const Index i : *anchor) boundaries.push_back(s[i].time);
  } else {
    for (std::size_t i = 0; i < s.size(); i += period) boundaries.push_back(s[i].time);
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  return boundaries;
}

}  // namespace pyrometer::analysis
