#include "analysis/clock_align.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace pyrometer::analysis {
namespace {

using model::ClockMap;
using model::DurationNs;
using model::TimeNs;

// The lower of the middle two where there are two: an observed value, so that shifting a clock by a
// constant shifts the median by exactly that.
template <typename T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What remains of each shared end after `map`: reference − mapped own.
std::vector<DurationNs> residuals(const std::vector<SharedEnd>& ends, const ClockMap& map) {
  std::vector<DurationNs> left;
  left.reserve(ends.size());
  for (const SharedEnd& e : ends) left.push_back(e.reference - map.to_reference(e.own));
  return left;
}

double spread_of(const std::vector<DurationNs>& values) {
  const DurationNs middle = median(values);
  std::vector<DurationNs> deviations;
  deviations.reserve(values.size());
  for (const DurationNs v : values) deviations.push_back(std::abs(v - middle));
  constexpr double kToSigma = 1.4826;  // of a normal distribution
  return kToSigma * static_cast<double>(median(std::move(deviations)));
}

// Median slope over pairs half the trace apart: robust like Theil–Sen, in linear time.
double slope_of(const std::vector<SharedEnd>& sorted) {
  std::vector<double> slopes;
  const std::size_t half = sorted.size() / 2;
  for (std::size_t i = 0; i + half < sorted.size(); ++i) {
    const SharedEnd& x = sorted[i];
    const SharedEnd& y = sorted[i + half];
    if (y.own <= x.own) continue;
    const DurationNs change = (y.reference - y.own) - (x.reference - x.own);
    slopes.push_back(static_cast<double>(change) / static_cast<double>(y.own - x.own));
  }
  return slopes.empty() ? 0 : median(std::move(slopes));
}

}  // namespace

ClockFit fit_clock(const std::vector<SharedEnd>& ends) {
  std::vector<SharedEnd> sorted = ends;
  std::sort(sorted.begin(), sorted.end(),
            [](const SharedEnd& a, const SharedEnd& b) { return a.own < b.own; });
  ClockFit fit;
  fit.map.known = true;
  fit.map.origin = sorted[(sorted.size() - 1) / 2].own;
  fit.map.offset = median(residuals(sorted, ClockMap{}));
  fit.spread_ns = spread_of(residuals(sorted, fit.map));

  constexpr std::size_t kEnoughForDrift = 16;
  if (sorted.size() < kEnoughForDrift) return fit;
  ClockFit drifting = fit;
  drifting.map.drift = slope_of(sorted);
  drifting.map.offset += median(residuals(sorted, drifting.map));
  drifting.spread_ns = spread_of(residuals(sorted, drifting.map));
  const double moved =
      std::abs(drifting.map.drift) * static_cast<double>(sorted.back().own - sorted.front().own);
  // Quartz clocks are within 100 ppm of each other; what goes beyond is no drift.
  constexpr double kMostDrift = 1e-4;
  const bool significant = std::abs(drifting.map.drift) <= kMostDrift &&
                           moved > 3 * drifting.spread_ns && drifting.spread_ns < fit.spread_ns / 2;
  return significant ? drifting : fit;
}

namespace {

// `outer` after `inner`, as one map; exact at the inner map's origin.
ClockMap chain(const ClockMap& outer, const ClockMap& inner) {
  ClockMap map;
  map.known = true;
  map.origin = inner.origin;
  map.offset = outer.to_reference(inner.to_reference(inner.origin)) - inner.origin;
  map.drift = (1 + outer.drift) * (1 + inner.drift) - 1;
  return map;
}

ClockMap inverse(const ClockMap& map) {
  ClockMap back;
  back.known = true;
  back.origin = map.to_reference(map.origin);
  back.offset = -map.offset;
  back.drift = -map.drift / (1 + map.drift);
  return back;
}

}  // namespace

Clocks align_clocks(std::size_t ranks, const std::vector<ClockLink>& links) {
  Clocks clocks;
  clocks.maps.resize(ranks);
  std::vector<bool> reached(ranks, false);
  const auto grow = [&] {  // Prim's algorithm: one more rank, by the link with the most ends
    const ClockLink* best = nullptr;
    for (const ClockLink& link : links) {
      if (link.ends.empty() || reached[link.a] == reached[link.b]) continue;
      if (best == nullptr || link.ends.size() > best->ends.size()) best = &link;
    }
    if (best == nullptr) return false;
    const ClockFit fit = fit_clock(best->ends);  // from b to a
    if (reached[best->a]) {
      clocks.maps[best->b] = chain(clocks.maps[best->a], fit.map);
    } else {
      clocks.maps[best->a] = chain(clocks.maps[best->b], inverse(fit.map));
    }
    reached[best->a] = reached[best->b] = true;
    clocks.spread_ns = std::max(clocks.spread_ns, fit.spread_ns);
    return true;
  };
  std::vector<bool> with_first;
  for (std::size_t root = 0; root < ranks; ++root) {
    if (reached[root]) continue;
    reached[root] = true;
    while (grow()) {
    }
    if (root == 0) with_first = reached;  // later roots start clocks of their own
  }
  for (std::size_t r = 0; r < ranks; ++r) clocks.maps[r].known = with_first[r];
  return clocks;
}

}  // namespace pyrometer::analysis
