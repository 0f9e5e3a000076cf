// Times of steps as machines make them, of a program that does not change.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pyrometer::bench {

enum class Noise : std::uint8_t {
  kWhite,           // each step for itself, 5%
  kAutocorrelated,  // a step resembles the one before it (0.9), 5%
  kDrifting,        // the machine slows down, or recovers, by up to 5% in the course of a run
  kBursty,          // now and then twenty steps in a row take half as long again
  kRunToRun,        // white, and each run has a speed of its own, 2% apart: boost clocks, placement
};

struct NoiseKind {
  Noise noise;
  std::string_view name, what;
};
[[nodiscard]] const std::vector<NoiseKind>& noise_kinds();

// ns of each of `steps` steps of about 10 ms. `seed` decides everything, the run's own speed too.
[[nodiscard]] std::vector<double> step_times(Noise noise, std::size_t steps, std::uint64_t seed);

}  // namespace pyrometer::bench
