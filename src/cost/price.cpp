#include "cost/price.h"

#include <algorithm>

namespace pyrometer::cost {
namespace {

constexpr double kNsPerHour = 3.6e12;
constexpr double kHoursPerDay = 24;

}  // namespace

std::optional<double> Usage::step_ns() const {
  if (gpu_steps == 0) return std::nullopt;
  return static_cast<double>(model::total(step_causes)) / gpu_steps;
}

Usage usage_of(const model::JobAnalysis& job) {
  Usage usage;
  for (const model::RankAnalysis& rank : job.ranks) {
    for (const model::DeviceWaterfall& device : rank.waterfall.devices) {
      if (device.window.length() <= 0) continue;
      ++usage.gpus;
      usage.gpu_time += device.window.length();
      usage.gpu_steps +=
          rank.steps.backlog > 0 ? rank.steps.worth() : static_cast<double>(device.steps.size());
      for (const model::CauseTimes& step : device.steps) {
        for (std::size_t i = 0; i < model::kCauseCount; ++i) usage.step_causes[i] += step[i];
      }
    }
  }
  return usage;
}

double usd(double gpu_ns, const Price& price) {
  return gpu_ns / kNsPerHour * price.usd_per_gpu_hour;
}

double usd_per_day(double share, std::int64_t gpus, const Price& price) {
  return share * static_cast<double>(gpus) * kHoursPerDay * price.usd_per_gpu_hour;
}

double usd_per_1000_steps(double step_ns, std::int64_t gpus, const Price& price) {
  return usd(1000 * step_ns * static_cast<double>(gpus), price);
}

Saving saving_of(const model::Prediction& prediction) {
  Saving saving;
  if (!(prediction.baseline_ns > 0)) return saving;
  saving.step_ns = {std::max(0.0, prediction.baseline_ns - prediction.high_ns),
                    std::max(0.0, prediction.baseline_ns - prediction.low_ns)};
  saving.share = {saving.step_ns.low / prediction.baseline_ns,
                  saving.step_ns.high / prediction.baseline_ns};
  return saving;
}

}  // namespace pyrometer::cost
