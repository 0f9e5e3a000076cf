// Which configurations are worth a thought: those that no other one beats in everything.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pyrometer::tune {

struct Tradeoff {
  double gain = 0;  // more is better
  double cost = 0;  // less is better
};

// Positions of those that no other has at least as much gain and at most as much cost as, one of
// both truly better; by ascending cost. Of equal ones, all.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const Tradeoff> all);

}  // namespace pyrometer::tune
