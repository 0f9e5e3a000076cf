#include "aa/noise.h"

#include <cmath>
#include <numbers>

#include "verify/random.h"

namespace pyrometer::bench {
namespace {

using verify::Random;

// Box and Muller.
double normal(Random& random) {
  constexpr double kLeast = 1e-300;
  const double radius = std::sqrt(-2 * std::log(std::max(kLeast, random.unit())));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

}  // namespace

const std::vector<NoiseKind>& noise_kinds() {
  static const std::vector<NoiseKind> kinds = {
      {Noise::kWhite, "white", "each step for itself, 5%"},
      {Noise::kAutocorrelated, "autocorrelated", "AR(1) with 0.9, 5%"},
      {Noise::kDrifting, "drifting", "up to 5% slower or faster at the end than at the start"},
      {Noise::kBursty, "bursty", "20 steps in a row half as long again, in 2% of the places"},
      {Noise::kRunToRun, "from run to run", "white, and 2% between runs"},
  };
  return kinds;
}

std::vector<double> step_times(Noise noise, std::size_t steps, std::uint64_t seed) {
  constexpr double kStep = 1e7;
  constexpr double kSpread = 0.05;
  constexpr double kRuns = 0.02;
  constexpr double kCorrelation = 0.9;
  constexpr double kBurst = 1.5;
  constexpr std::size_t kBurstSteps = 20;
  constexpr double kBursts = 0.001;    // of the steps one begins
  Random random(Random(seed).next());  // neighbouring seeds alone give streams that are shifted
  const double drift = kSpread * (2 * random.unit() - 1);
  const double own = kRuns * normal(random);
  double state = normal(random);
  std::size_t burst = 0;
  std::vector<double> out;
  for (std::size_t i = 0; i < steps; ++i) {
    const double fresh = normal(random);
    state = kCorrelation * state + std::sqrt(1 - kCorrelation * kCorrelation) * fresh;
    double factor = 1 + kSpread * (noise == Noise::kAutocorrelated ? state : fresh);
    if (noise == Noise::kDrifting) {
      factor += drift * static_cast<double>(i) / static_cast<double>(steps);
    }
    if (noise == Noise::kRunToRun) factor += own;
    if (noise == Noise::kBursty) {
      if (burst == 0 && random.unit() < kBursts) burst = kBurstSteps;
      if (burst > 0) {
        factor *= kBurst;
        --burst;
      }
    }
    out.push_back(kStep * std::max(0.1, factor));
  }
  return out;
}

}  // namespace pyrometer::bench
