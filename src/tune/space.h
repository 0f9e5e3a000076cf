// The space that `pyrometer tune` searches: named dimensions with a finite list of values each.
//
// docs/reference/tune.md has the grammar. Every dimension is a list in the end: a range of reals is
// divided into parts that are finer than any measurement tells apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pyrometer::tune {

struct Dimension {
  std::string name;                 // "batch", "loader.workers", "env:OMP_NUM_THREADS"
  std::vector<std::string> values;  // as they are passed on; numbers in ascending order
  std::vector<double> numbers;      // the same as numbers; empty: not all are
  std::size_t first = 0;            // position of the value that was written first
  std::size_t position = 0;         // character of the text at which its name stands, from 1

  // Neighbouring values resemble each other.
  [[nodiscard]] bool ordered() const { return !numbers.empty(); }
};

// A configuration: for each dimension the position of its value.
using Point = std::vector<std::uint32_t>;

struct Space {
  std::vector<Dimension> dimensions;

  // The number of points; the largest number there is where it is larger.
  [[nodiscard]] std::uint64_t size() const;
  // Of the values that were written first.
  [[nodiscard]] Point first() const;
  // The point of this number, 0 ≤ number < size(); the last dimension counts fastest.
  [[nodiscard]] Point point(std::uint64_t number) const;
  [[nodiscard]] const std::string& value(const Point& point, std::size_t dimension) const {
    return dimensions[dimension].values[point[dimension]];
  }
  // "batch=64 workers=4".
  [[nodiscard]] std::string text_of(const Point& point) const;
  [[nodiscard]] const Dimension* find(std::string_view name) const;
};

// Limits of what is taken in, with room for everything that can be searched.
inline constexpr std::size_t kMostValues = 10'000;
inline constexpr std::size_t kMostDimensions = 32;
inline constexpr int kRealParts = 100;  // of a range of reals without a step

// Error kUsage: names the character, counted from 1, and what was expected there.
[[nodiscard]] base::Result<Space> parse_space(std::string_view text);

// "batch=64; workers=4": a point of the space. A dimension that is left out has its first value.
[[nodiscard]] base::Result<Point> parse_point(std::string_view text, const Space& space);

}  // namespace pyrometer::tune
