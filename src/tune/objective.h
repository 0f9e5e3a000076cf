// What a configuration is judged by, and what a trial of it measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/types.h"
#include "tune/search.h"
#include "tune/space.h"

namespace pyrometer::tune {

enum class Objective : std::uint8_t {
  kSamplesPerSecond,
  kStepsPerSecond,
  kSamplesPerUsd,
  kSamplesPerJoule,
  kTimeToLoss,
};

struct ObjectiveInfo {
  Objective objective;
  std::string_view id;     // "samples_per_usd"
  std::string_view title;  // "samples per USD"
  std::string_view cost;   // what gets less: "money per sample"
};

[[nodiscard]] std::span<const ObjectiveInfo> objective_table();
[[nodiscard]] const ObjectiveInfo& info_of(Objective objective);

// One trial. What is not known is absent; of a trial that failed, all of it.
struct Measurement {
  Point point;
  bool is_final = false;  // in turns with the first configuration; else of the search
  int round = 0;          // of the finals
  int rung = 0;           // see share_of_length()
  Outcome outcome = Outcome::kMeasured;
  std::string reason;                      // why it is no kMeasured; in words
  double seconds = 0;                      // that it took, from start to end
  std::int64_t steps = 0;                  // after warm-up
  std::optional<double> step_ns;           // mean, after warm-up
  std::optional<double> samples_per_step;  // of the whole job
  std::int64_t gpus = 0;                   // that worked
  std::optional<double> usd_per_gpu_hour;
  std::optional<double> joules_per_step;  // of all GPUs
  std::optional<double> peak_memory;      // bytes, of the device with the most
  std::optional<double> loss;             // smoothed, at the end of what was seen of it
  std::optional<double> seconds_to_loss;  // until it was as low as asked for
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

[[nodiscard]] std::optional<double> samples_per_second(const Measurement& one);
[[nodiscard]] std::optional<double> usd_per_sample(const Measurement& one);
[[nodiscard]] std::optional<double> usd_per_million_samples(const Measurement& one);
[[nodiscard]] std::optional<double> joules_per_sample(const Measurement& one);

// What the objective wants less of: ns per sample or step, USD or J per sample, seconds. Absent
// where it is not known.
[[nodiscard]] std::optional<double> cost_of(const Measurement& one, Objective objective);
// The objective itself: 1/cost in samples or steps per second, USD or J; seconds to the loss.
[[nodiscard]] double objective_of(double cost, Objective objective);
[[nodiscard]] inline bool more_is_better(Objective objective) {
  return objective != Objective::kTimeToLoss;
}

// The loss is smoothed by the mean of so many steps.
inline constexpr std::size_t kSmoothedSteps = 10;

struct LossCourse {
  std::optional<double> smoothed;   // at the end; absent with fewer steps than are smoothed over
  std::optional<double> reached_s;  // from `start` to the end of the first step at which the
                                    // smoothed loss was at most the target
};
// `losses` and the ends of their steps, as many. Without a target nothing is reached.
[[nodiscard]] LossCourse course_of(std::span<const double> losses,
                                   std::span<const model::TimeNs> ends, model::TimeNs start,
                                   std::optional<double> target);

}  // namespace pyrometer::tune
