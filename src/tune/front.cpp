#include "tune/front.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pyrometer::tune {

std::vector<std::size_t> pareto_front(std::span<const Tradeoff> all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [all](std::size_t a, std::size_t b) {
    if (all[a].cost != all[b].cost) return all[a].cost < all[b].cost;
    return all[a].gain > all[b].gain;
  });
  std::vector<std::size_t> front;
  double most = -std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const bool equal = !front.empty() && all[i].cost == all[front.back()].cost &&
                       all[i].gain == all[front.back()].gain;
    if (all[i].gain <= most && !equal) continue;
    most = all[i].gain;
    front.push_back(i);
  }
  return front;
}

}  // namespace pyrometer::tune
