// Chooses configurations worth trying from those that were tried.
//
// A tree-structured Parzen estimator (J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl: Algorithms for
// Hyper-Parameter Optimization, 2011) with kernels over all dimensions at once (S. Falkner,
// A. Klein, F. Hutter: BOHB, 2018). Our own because Debian has none for C++: NLopt's optimizers
// want continuous functions without noise, and Optuna is Python's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tune/space.h"
#include "verify/random.h"

namespace pyrometer::tune {

// What is known of a configuration. Only the order of costs counts.
struct Observation {
  Point point;
  double cost = 0;      // less is better
  bool failed = false;  // worse than every cost
};

// The same seed, space and observations give the same points on every machine.
class Sampler {
 public:
  Sampler(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}

  // A point that `allowed` accepts, which knows what was tried already; nothing where there seems
  // to be none. Points are random until there are enough observations to learn from.
  [[nodiscard]] std::optional<Point> next(std::span<const Observation> observations,
                                          const std::function<bool(const Point&)>& allowed);
  [[nodiscard]] std::optional<Point> random_point(const std::function<bool(const Point&)>& allowed);

 private:
  class Density;
  [[nodiscard]] Point draw();

  const Space& space_;  // outlives the sampler
  verify::Random random_;
};

}  // namespace pyrometer::tune
