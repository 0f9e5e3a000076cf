#include "tune/objective.h"

#include <algorithm>
#include <array>

#include "cost/price.h"

namespace pyrometer::tune {
namespace {

constexpr std::array<ObjectiveInfo, 5> kObjectives = {{
    {Objective::kSamplesPerSecond, "samples_per_second", "samples per second", "time per sample"},
    {Objective::kStepsPerSecond, "steps_per_second", "steps per second", "time per step"},
    {Objective::kSamplesPerUsd, "samples_per_usd", "samples per USD", "money per sample"},
    {Objective::kSamplesPerJoule, "samples_per_joule", "samples per joule", "energy per sample"},
    {Objective::kTimeToLoss, "time_to_loss", "time to the loss", "time to the loss"},
}};

constexpr double kSecond = 1e9;

std::optional<double> per_sample(std::optional<double> per_step, const Measurement& one) {
  if (!per_step || !one.samples_per_step || *one.samples_per_step <= 0) return std::nullopt;
  return *per_step / *one.samples_per_step;
}

}  // namespace

std::span<const ObjectiveInfo> objective_table() { return kObjectives; }

const ObjectiveInfo& info_of(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)];
}

std::optional<double> samples_per_second(const Measurement& one) {
  const auto ns = per_sample(one.step_ns, one);
  return ns && *ns > 0 ? std::optional(kSecond / *ns) : std::nullopt;
}

std::optional<double> usd_per_sample(const Measurement& one) {
  const auto ns = per_sample(one.step_ns, one);
  if (!ns || !one.usd_per_gpu_hour || one.gpus == 0) return std::nullopt;
  return cost::usd(*ns * static_cast<double>(one.gpus),
                   {.usd_per_gpu_hour = *one.usd_per_gpu_hour, .source = ""});
}

std::optional<double> usd_per_million_samples(const Measurement& one) {
  constexpr double kMillion = 1e6;
  const auto usd = usd_per_sample(one);
  return usd ? std::optional(*usd * kMillion) : std::nullopt;
}

std::optional<double> joules_per_sample(const Measurement& one) {
  return per_sample(one.joules_per_step, one);
}

std::optional<double> cost_of(const Measurement& one, Objective objective) {
  std::optional<double> cost;
  switch (objective) {
    case Objective::kSamplesPerSecond:
      cost = per_sample(one.step_ns, one);
      break;
    case Objective::kStepsPerSecond:
      cost = one.step_ns;
      break;
    case Objective::kSamplesPerUsd:
      cost = usd_per_sample(one);
      break;
    case Objective::kSamplesPerJoule:
      cost = joules_per_sample(one);
      break;
    case Objective::kTimeToLoss:
      cost = one.seconds_to_loss;
      break;
  }
  // Costs are compared by their ratios.
  return cost && *cost > 0 ? cost : std::nullopt;
}

double objective_of(double cost, Objective objective) {
  switch (objective) {
    case Objective::kSamplesPerSecond:
    case Objective::kStepsPerSecond:
      return kSecond / cost;
    case Objective::kSamplesPerUsd:
    case Objective::kSamplesPerJoule:
      return 1 / cost;
    case Objective::kTimeToLoss:
      return cost;
  }
  return cost;
}

LossCourse course_of(std::span<const double> losses, std::span<const model::TimeNs> ends,
                     model::TimeNs start, std::optional<double> target) {
  LossCourse out;
  const std::size_t count = std::min(losses.size(), ends.size());
  for (std::size_t i = kSmoothedSteps; i <= count; ++i) {
    double sum = 0;
    for (std::size_t k = i - kSmoothedSteps; k < i; ++k) sum += losses[k];
    out.smoothed = sum / static_cast<double>(kSmoothedSteps);
    if (target && !out.reached_s && *out.smoothed <= *target) {
      out.reached_s = static_cast<double>(ends[i - 1] - start) / kSecond;
    }
  }
  return out;
}

}  // namespace pyrometer::tune
