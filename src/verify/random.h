// Random numbers that are the same on every machine: a result that is printed can be had again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyrometer::verify {

// SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number Generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, bound), bound > 0; the bias is below 2^-32 for the bounds of this program.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  // In [0, 1).
  double unit() {
    constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
    return static_cast<double>(next() >> 11) * kScale;
  }

 private:
  std::uint64_t state_;
};

}  // namespace pyrometer::verify
