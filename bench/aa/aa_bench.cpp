// How often `compare` and `try` call a program different from itself: pairs of simulated runs of
// one program, judged as the commands judge them. Prints a Markdown table.
//
// usage: aa_bench [PAIRS] [SEED]     100 pairs, seed 1
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "aa/noise.h"
#include "verify/comparison.h"
#include "verify/sequential.h"
#include "verify/trial_steps.h"

namespace pyrometer::bench {
namespace {

using verify::RunSummary;
using verify::TimedStep;

constexpr std::size_t kSteps = 600;
constexpr std::int64_t kSamples = 32;

// Each run of the whole benchmark has a number of its own.
class Runs {
 public:
  explicit Runs(std::uint64_t seed) : next_(seed * 1'000'000) {}

  std::vector<double> times(Noise noise, std::size_t steps) {
    return step_times(noise, steps, next_++);
  }

  RunSummary recording(Noise noise) {
    RunSummary out{.label = "run", .recording = true, .ranks = 1};
    out.why_no_kernels = out.why_no_memory = out.energy.missing = "simulated";
    verify::Series series;
    model::TimeNs start = 0;
    for (const double ns : times(noise, kSteps)) {
      series.push_back({.start = start, .length = std::llround(ns), .samples = kSamples});
      start += series.back().length;
    }
    const verify::WarmUp warm_up = verify::find_warm_up(series);
    series.erase(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(warm_up.rows));
    out.steps = static_cast<std::int64_t>(series.size());
    out.samples_per_s = out.samples_per_step = 1;  // known; the figures come from the steps
    out.series.push_back(std::move(series));
    return out;
  }

  std::vector<TimedStep> trial(Noise noise, std::size_t block) {
    std::vector<TimedStep> out;
    constexpr std::size_t kFirst = 3;
    std::size_t i = 0;
    for (const double ns : times(noise, kSteps)) {
      TimedStep step{.length = std::llround(ns), .samples = kSamples};
      if (block > 0 && i >= kFirst) {
        const std::size_t turn = (i - kFirst) / block % 4;
        step.variant = turn == 1 || turn == 2 ? 1 : 0;
      }
      out.push_back(step);
      ++i;
    }
    return out;
  }

 private:
  std::uint64_t next_;
};

bool compare_runs(Runs& runs, Noise noise, std::size_t each) {
  std::vector<RunSummary> sides[2];
  for (auto& side : sides) {
    for (std::size_t i = 0; i < each; ++i) side.push_back(runs.recording(noise));
  }
  return verify::decisive(verify::compare(sides[0], sides[1])).sure();
}

bool is_different(const verify::Sequential& test) {
  return test.decision() == verify::Decision::kFaster ||
         test.decision() == verify::Decision::kSlower;
}

// As `try` does with what can be switched: three runs at most, in turns of a quarter of a second.
bool try_in_turns(Runs& runs, Noise noise) {
  constexpr std::size_t kBlock = 25;
  verify::Sequential test({});
  for (int run = 0; run < 3 && !test.done(); ++run) {
    for (const double ratio : verify::turn_ratios(runs.trial(noise, kBlock))) test.add(ratio);
  }
  return is_different(test);
}

// As `try` does with the rest: up to six rounds of one run each.
bool try_in_rounds(Runs& runs, Noise noise) {
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kMost = 6;
  verify::Sequential test({.fewest = kFewest, .most = kMost});
  while (!test.done()) {
    const auto a = verify::run_time(runs.trial(noise, 0));
    const auto b = verify::run_time(runs.trial(noise, 0));
    if (!a || !b) return false;
    test.add(std::log(b->ns / a->ns));
  }
  return is_different(test);
}

int run(int pairs, std::uint64_t seed) {
  using Judge = std::function<bool(Runs&, Noise)>;
  const std::vector<std::pair<std::string, Judge>> judges = {
      {"compare, one run each", [](Runs& r, Noise n) { return compare_runs(r, n, 1); }},
      {"compare, four runs each", [](Runs& r, Noise n) { return compare_runs(r, n, 4); }},
      {"try, in turns within runs", try_in_turns},
      {"try, run against run", try_in_rounds}};
  fmt::print("| noise |");
  for (const auto& [name, judge] : judges) fmt::print(" {} |", name);
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < judges.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
  for (const NoiseKind& kind : noise_kinds()) {
    fmt::print("| {} |", kind.name);
    for (const auto& [name, judge] : judges) {
      Runs runs(seed);
      int different = 0;
      for (int i = 0; i < pairs; ++i) different += judge(runs, kind.noise) ? 1 : 0;
      fmt::print(" {} |", different);
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace
}  // namespace pyrometer::bench

int main(int count, char** words) {
  const int pairs = count > 1 ? std::atoi(words[1]) : 100;
  const long seed = count > 2 ? std::atol(words[2]) : 1;
  if (pairs <= 0 || seed <= 0) {
    fmt::print(stderr, "usage: aa_bench [PAIRS] [SEED]\n");
    return 2;
  }
  return pyrometer::bench::run(pairs, static_cast<std::uint64_t>(seed));
}
