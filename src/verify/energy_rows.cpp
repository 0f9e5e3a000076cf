#include "verify/energy_rows.h"

#include <algorithm>
#include <utility>

namespace pyrometer::verify {
namespace {

using model::EnergySeries;
using model::EnergyWindow;
using Span = model::Interval;
using model::TimeNs;

// Of the steps' time, what readings have to cover before they stand for it.
constexpr double kEnoughCovered = 0.5;

// The part of windows' energy within `span`, even within each.
double joules_within(const std::vector<EnergyWindow>& windows, const Span& span) {
  double joules = 0;
  auto at = std::partition_point(windows.begin(), windows.end(), [&](const EnergyWindow& one) {
    return one.span.end <= span.start;
  });
  for (; at != windows.end() && at->span.start < span.end; ++at) {
    const Span both{std::max(at->span.start, span.start), std::min(at->span.end, span.end)};
    joules +=
        at->joules * static_cast<double>(both.length()) / static_cast<double>(at->span.length());
  }
  return joules;
}

double samples_within(const Series& steps, const Span& span) {
  double samples = 0;
  auto at = std::partition_point(steps.begin(), steps.end(), [&](const StepRow& row) {
    return row.start + row.length <= span.start;
  });
  for (; at != steps.end() && at->start < span.end; ++at) {
    const Span both{std::max(at->start, span.start), std::min(at->start + at->length, span.end)};
    samples += static_cast<double>(at->samples) * static_cast<double>(both.length()) /
               static_cast<double>(at->length);
  }
  return samples;
}

Span covered(const EnergySeries& series, const Span& steps) {
  if (!series.missing.empty() || series.windows.empty()) return {};
  return {std::max(series.windows.front().span.start, steps.start),
          std::min(series.windows.back().span.end, steps.end)};
}

// The meter of a GPU that covers enough of the steps; null: none, and `why` says so.
const EnergySeries* meter_of(const model::RecordedRun& run, std::int32_t gpu, const Span& steps,
                             std::string& why) {
  for (const std::string_view meter : {"counter", "polled"}) {
    for (const EnergySeries& series : run.energy) {
      if (series.device != gpu || series.meter != meter) continue;
      if (static_cast<double>(covered(series, steps).length()) >=
          kEnoughCovered * static_cast<double>(steps.length())) {
        return &series;
      }
      if (why.empty() || !series.missing.empty()) {
        why = !series.missing.empty() ? series.missing
                                      : "readings of energy cover too little of the steps' time";
      }
    }
  }
  if (why.empty()) why = "the recording has no readings of energy";
  return nullptr;
}

}  // namespace

std::optional<double> EnergyRows::per_sample() const {
  Quotient sum;
  for (const std::vector<Quotient>& rank : rows) {
    for (const Quotient& row : rank) {
      sum.top += row.top;
      sum.bottom += row.bottom;
    }
  }
  if (!missing.empty() || sum.bottom <= 0) return std::nullopt;
  return sum.top / sum.bottom;
}

EnergyRows energy_rows(const model::RecordedRun& run, const std::set<std::int32_t>& gpus,
                       const Series& steps) {
  const auto missing = [](std::string why) { return EnergyRows{{}, std::move(why)}; };
  if (gpus.empty()) return missing("no GPU was used");
  if (steps.empty()) return missing("no steps were found");
  for (const StepRow& row : steps) {
    if (row.samples <= 0) return missing("the samples of a step are not known");
  }
  const Span span{steps.front().start, steps.back().start + steps.back().length};
  std::vector<const EnergySeries*> meters;
  Span common = span;
  for (const std::int32_t gpu : gpus) {
    std::string why;
    const EnergySeries* meter = meter_of(run, gpu, span, why);
    if (meter == nullptr) return missing(why);
    const Span own = covered(*meter, span);
    common = {std::max(common.start, own.start), std::min(common.end, own.end)};
    meters.push_back(meter);
  }
  EnergyRows out;
  std::vector<Quotient>& rows = out.rows.emplace_back();
  for (const EnergyWindow& window : meters.front()->windows) {
    const Span both{std::max(window.span.start, common.start),
                    std::min(window.span.end, common.end)};
    if (both.length() <= 0) continue;
    Quotient row{.bottom = samples_within(steps, both)};
    for (const EnergySeries* meter : meters) row.top += joules_within(meter->windows, both);
    if (row.bottom > 0) rows.push_back(row);
  }
  if (rows.empty()) return missing("readings of energy cover too little of the steps' time");
  return out;
}

}  // namespace pyrometer::verify
