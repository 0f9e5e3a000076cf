// What does not fit into memory tells what else will not.
#pragma once

#include <string_view>
#include <vector>

#include "tune/space.h"

namespace pyrometer::tune {

// Configurations that ran out of memory, as a bound: with larger values in dimensions that raise
// the need of memory, and all else equal, there is no need to try.
class MemoryBound {
 public:
  // `grows`: by dimension, whether larger numbers need more memory.
  explicit MemoryBound(std::vector<bool> grows) : grows_(std::move(grows)) {}

  void add(Point out_of_memory) { bounds_.push_back(std::move(out_of_memory)); }
  // The configuration that excludes this one; null: none does.
  [[nodiscard]] const Point* excludes(const Point& point) const;

 private:
  std::vector<bool> grows_;
  std::vector<Point> bounds_;
};

// Whether a dimension of numbers goes by a name that says so: a part of it, between _ . - or at a
// capital letter, is batch, bs, seq, seqlen, tokens, resolution, or it is image_size, hidden_size
// or the like; none is accumulation, which lowers it.
[[nodiscard]] bool seems_to_grow_memory(const Dimension& dimension);

}  // namespace pyrometer::tune
