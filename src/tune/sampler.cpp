#include "tune/sampler.h"

#include <algorithm>
#include <cmath>

namespace pyrometer::tune {

// A mixture of one kernel for each point and the uniform distribution.
class Sampler::Density {
 public:
  Density(const Space& space, std::vector<const Point*> points)
      : space_(space), points_(std::move(points)) {
    // Scott's rule, as BOHB has it, for coordinates from 0 to 1 whose spread is about a fifth.
    constexpr double kSpread = 0.2;
    const auto n = static_cast<double>(points_.size() + 1);
    width_ = kSpread * std::pow(n, -1.0 / (static_cast<double>(space.dimensions.size()) + 4));
    for (const Dimension& dimension : space.dimensions) kernels_.push_back(kernel(dimension));
  }

  [[nodiscard]] Point draw(verify::Random& random) const {
    const std::size_t which = random.below(points_.size() + 1);
    Point point;
    for (std::size_t d = 0; d < kernels_.size(); ++d) {
      const std::size_t count = space_.dimensions[d].values.size();
      const std::size_t centre = which < points_.size() ? (*points_[which])[d] : count;
      point.push_back(centre == count ? static_cast<std::uint32_t>(random.below(count))
                                      : draw_near(d, centre, random.unit()));
    }
    return point;
  }

  [[nodiscard]] double at(const Point& point) const {
    double uniform = 1;
    for (const Dimension& one : space_.dimensions) {
      uniform /= static_cast<double>(one.values.size());
    }
    double sum = uniform;
    for (const Point* centre : points_) {
      double product = 1;
      for (std::size_t d = 0; d < kernels_.size(); ++d) {
        product *= weight(d, (*centre)[d], point[d]) / total(d, (*centre)[d]);
      }
      sum += product;
    }
    return sum;
  }

 private:
  // Weights by the distance of two values. Choices differ from each other all alike.
  struct Kernel {
    std::vector<double> by_distance;
    std::vector<double> sums;  // sums[i]: of by_distance[0..i]
  };

  [[nodiscard]] Kernel kernel(const Dimension& dimension) const {
    const std::size_t count = dimension.values.size();
    Kernel out{std::vector<double>(count), std::vector<double>(count)};
    if (!dimension.ordered()) {
      // A random other choice as often as a kernel of this width leaves its cell.
      const double other = width_ / static_cast<double>(count);
      std::fill(out.by_distance.begin(), out.by_distance.end(), other);
      out.by_distance[0] = 1 - width_ + other;
    } else {
      const double step = count > 1 ? 1.0 / static_cast<double>(count - 1) : 1;
      const double sigma = std::max(width_, step / 2);
      for (std::size_t i = 0; i < count; ++i) {
        const double z = static_cast<double>(i) * step / sigma;
        out.by_distance[i] = std::exp(-z * z / 2);
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) out.sums[i] = sum += out.by_distance[i];
    return out;
  }

  [[nodiscard]] double weight(std::size_t d, std::size_t centre, std::size_t value) const {
    return kernels_[d].by_distance[centre > value ? centre - value : value - centre];
  }
  // Of all values around a centre.
  [[nodiscard]] double total(std::size_t d, std::size_t centre) const {
    const Kernel& kernel = kernels_[d];
    const std::size_t count = kernel.sums.size();
    if (!space_.dimensions[d].ordered()) {
      return kernel.by_distance[0] +
             static_cast<double>(count - 1) * width_ / static_cast<double>(count);
    }
    return kernel.sums[centre] + kernel.sums[count - 1 - centre] - kernel.by_distance[0];
  }

  [[nodiscard]] std::uint32_t draw_near(std::size_t d, std::size_t centre, double unit) const {
    const std::size_t count = kernels_[d].sums.size();
    double left = unit * total(d, centre);
    for (std::size_t value = 0; value < count; ++value) {
      const double own = space_.dimensions[d].ordered() || value == centre
                             ? weight(d, centre, value)
                             : width_ / static_cast<double>(count);
      if (left < own) return static_cast<std::uint32_t>(value);
      left -= own;
    }
    return static_cast<std::uint32_t>(centre);  // rounding
  }

  const Space& space_;
  std::vector<const Point*> points_;
  std::vector<Kernel> kernels_;
  double width_ = 0;
};

Point Sampler::draw() {
  Point point;
  for (const Dimension& one : space_.dimensions) {
    point.push_back(static_cast<std::uint32_t>(random_.below(one.values.size())));
  }
  return point;
}

std::optional<Point> Sampler::random_point(const std::function<bool(const Point&)>& allowed) {
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    Point point = draw();
    if (allowed(point)) return point;
  }
  // Few are left: look for them one by one, from a random one on.
  constexpr std::uint64_t kMost = 100'000;
  const std::uint64_t size = space_.size();
  const std::uint64_t start = random_.next() % size;
  for (std::uint64_t i = 0; i < std::min(size, kMost); ++i) {
    Point point = space_.point((start + i) % size);
    if (allowed(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Sampler::next(std::span<const Observation> observations,
                                   const std::function<bool(const Point&)>& allowed) {
  // As many as a line through the dimensions has parameters, and some more.
  const std::size_t enough = 2 * (space_.dimensions.size() + 1);
  std::vector<const Observation*> order;
  for (const Observation& one : observations) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const Observation* a, const Observation* b) {
    if (a->failed != b->failed) return b->failed;
    return !a->failed && a->cost < b->cost;
  });
  const auto worked = static_cast<std::size_t>(std::count_if(
      order.begin(), order.end(), [](const Observation* one) { return !one->failed; }));
  if (order.size() < enough || worked < 2) return random_point(allowed);
  // The best 15%, but no fewer than tell a direction.
  constexpr double kGood = 0.15;
  constexpr std::size_t kFewest = 3;
  const std::size_t good = std::min(
      worked, std::max(kFewest, static_cast<std::size_t>(
                                    std::ceil(kGood * static_cast<double>(order.size())))));
  std::vector<const Point*> best;
  std::vector<const Point*> rest;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (i < good ? best : rest).push_back(&order[i]->point);
  }
  const Density likely(space_, std::move(best));
  const Density unlikely(space_, std::move(rest));
  constexpr int kCandidates = 64;
  std::optional<Point> chosen;
  double most = 0;
  for (int i = 0; i < kCandidates; ++i) {
    Point point = likely.draw(random_);
    if (!allowed(point)) continue;
    const double ratio = likely.at(point) / unlikely.at(point);
    if (chosen && ratio <= most) continue;
    most = ratio;
    chosen = std::move(point);
  }
  return chosen ? chosen : random_point(allowed);
}

}  // namespace pyrometer::tune
