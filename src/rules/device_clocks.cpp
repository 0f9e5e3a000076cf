#include "rules/device_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

// Compute kernels at the highest clock: those bound by memory hardly gain.
analysis::Edit full_clock(double clock, double part) {
  const double factor = 1 - part * (1 - clock);
  analysis::Edit edit;
  edit.kernels.push_back({[](const model::KernelTraits& k, model::NameId) {
                            return k.klass == model::KernelClass::kGemm ||
                                   k.klass == model::KernelClass::kConv ||
                                   k.klass == model::KernelClass::kAttention;
                          },
                          {},
                          factor,
                          1});
  return edit;
}

void predict_clock(const model::FactSet& facts, Verdict& verdict) {
  const auto clock = facts.value(FactId::kDeviceClockShare);
  if (!clock) {
    verdict.finding.no_prediction = "the clocks were not read";
    return;
  }
  set_edits(verdict, full_clock(*clock, 1), full_clock(*clock, 0.7), full_clock(*clock, 0.2),
            "matrix kernels get faster with the clock, by 20 to 100% of what it lacks (70% "
            "expected); others stay");
}

// What the slowdown costs at most: the time for which clocks were held down, by what they lacked.
double lost(double held_down, const model::FactSet& facts) {
  const double clock = std::clamp(facts.value_or(FactId::kDeviceClockShare, 1), 0.0, 1.0);
  return held_down * (1 - clock);
}

}  // namespace

void judge_device_thermal_throttling(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "device.thermal_throttling";
  const auto share = context.largest(FactId::kDeviceThermalCapped);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kDeviceThermalCapped));
  if (share->value < context.threshold(kId, "warn")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = lost(share->value, facts);
  finding.ranks = context.ranks_with(FactId::kDeviceThermalCapped, context.threshold(kId, "warn"));
  finding.summary =
      fmt::format("Temperature held the clocks down {} of the time", percent(share->value));
  if (const auto temperature = facts.value(FactId::kDeviceTemperature)) {
    finding.summary += fmt::format(", at {:.0f} °C at most", *temperature);
  }
  if (const auto clock = facts.value(FactId::kDeviceClockShare)) {
    finding.summary += fmt::format("; the SM clock was {} of the highest one", percent(*clock));
  }
  finding.summary += ".";
  add_evidence(context, verdict, FactId::kDeviceThermalCapped, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_fact(context, verdict, facts, FactId::kDeviceClockShare);
  add_fact(context, verdict, facts, FactId::kDeviceTemperature);
  add_fact(context, verdict, facts, FactId::kDevicePower);
  predict_clock(facts, verdict);
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_device_power_cap(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "device.power_cap";
  const auto share = context.largest(FactId::kDevicePowerCapped);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kDevicePowerCapped));
  if (share->value < context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const auto limit = facts.value(FactId::kDevicePowerLimit);
  const auto usual = facts.value(FactId::kDevicePowerLimitDefault);
  const bool lowered =
      limit && usual && *usual > 0 && *limit / *usual < context.threshold(kId, "lowered");
  // At the factory's limit that is what a busy GPU does.
  Verdict verdict = start_verdict(kId, lowered ? Role::kCause : Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = lost(share->value, facts);
  finding.ranks = context.ranks_with(FactId::kDevicePowerCapped, context.threshold(kId, "share"));
  finding.summary =
      fmt::format("The GPU was at its power limit {} of the time", percent(share->value));
  if (limit && usual) {
    finding.summary +=
        lowered
            ? fmt::format(", which is set to {:.0f} W; its default is {:.0f} W.", *limit, *usual)
            : fmt::format(", the default of {:.0f} W: nothing is wrong.", *usual);
  } else {
    finding.summary += ".";
  }
  add_evidence(context, verdict, FactId::kDevicePowerCapped, share->value, "share");
  add_fact(context, verdict, facts, FactId::kDevicePower);
  add_fact(context, verdict, facts, FactId::kDevicePowerLimit);
  add_fact(context, verdict, facts, FactId::kDevicePowerLimitDefault);
  add_fact(context, verdict, facts, FactId::kDeviceClockShare);
  if (lowered) {
    predict_clock(facts, verdict);
  } else {
    finding.no_prediction = "the limit is the factory's";
  }
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_device_power_brake(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "device.power_brake";
  const auto share = context.largest(FactId::kDeviceSlowed);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kDeviceSlowed));
  if (share->value < context.threshold(kId, "warn")) return;
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = lost(share->value, facts);
  finding.ranks = context.ranks_with(FactId::kDeviceSlowed, context.threshold(kId, "warn"));
  finding.summary =
      fmt::format("An external signal held the clocks down {} of the time.", percent(share->value));
  add_evidence(context, verdict, FactId::kDeviceSlowed, share->value, "warn");
  add_fact(context, verdict, facts, FactId::kDeviceClockShare);
  predict_clock(facts, verdict);
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
