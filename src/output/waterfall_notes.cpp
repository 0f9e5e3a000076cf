// The sentences under the waterfall.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cost/price.h"
#include "output/summary.h"
#include "output/units.h"
#include "output/waterfall_view.h"

namespace pyrometer::output {
namespace {

std::vector<std::string> unattributed_notes(const Report& report) {
  std::map<std::string, model::DurationNs> by_reason;
  for (const model::RankAnalysis& rank : report.job.ranks) {
    for (const model::DeviceWaterfall& device : rank.waterfall.devices) {
      for (const model::UnattributedReason& r : device.unattributed) by_reason[r.reason] += r.time;
    }
  }
  const auto whole = static_cast<double>(model::total(report.job.causes));
  std::vector<std::string> notes;
  for (const auto& [reason, time] : by_reason) {
    const double share = static_cast<double>(time) / whole;
    constexpr double kWorthSaying = 0.005;
    if (share < kWorthSaying) continue;
    notes.push_back(sentence(fmt::format("Unattributed, {}: {}", format_percent(share), reason)));
  }
  return notes;
}

// What a reader can multiply: one base for shares, times and money.
std::string basis_note(const Report& report, const cost::Usage& usage) {
  const std::optional<double> step = usage.step_ns();
  if (!step) {
    return "No steps were found: shares and times are of the whole window" +
           std::string(report.price ? ", money as if it recurred all day." : ".");
  }
  const std::size_t ranks = report.job.ranks.size();
  std::string text = ranks > 1 ? fmt::format("Means over {} ranks: ", ranks) : std::string();
  text += "share × " + format_duration(*step) + (ranks > 1 ? " (the mean step)" : " per step") +
          " = time per step";
  if (report.price) {
    text += ", share × " + format_usd(cost::usd_per_day(1, usage.gpus, *report.price)) +
            " a day = money";
  }
  return sentence(text);
}

// What the trace holds besides the steps happens once: it is in no row and has no price.
std::string outside_note(const Report& report) {
  model::DurationNs most = 0;
  model::DurationNs recorded = 0;
  for (const model::RankAnalysis& rank : report.job.ranks) {
    const model::Interval& all = rank.steps.recorded;
    if (rank.steps.steps.empty() || all.length() <= 0) continue;
    const model::Interval& window = rank.steps.window;
    const model::DurationNs outside = std::max<model::DurationNs>(0, window.start - all.start) +
                                      std::max<model::DurationNs>(0, all.end - window.end);
    if (outside <= most) continue;
    most = outside;
    recorded = all.length();
  }
  constexpr double kWorthSaying = 0.02;
  if (static_cast<double>(most) <= kWorthSaying * static_cast<double>(recorded)) return "";
  return fmt::format(
      "Outside the steps lie {} of the {} with GPU activity (start-up, steps cut off): they do not "
      "recur, so no row and no price has them.",
      format_duration(static_cast<double>(most)), format_duration(static_cast<double>(recorded)));
}

// A first step that is far longer than the others: start-up inside the steps.
std::string first_step_note(const Report& report) {
  constexpr std::size_t kEnough = 3;
  constexpr double kFar = 2;
  constexpr double kWorthSaying = 0.02;
  for (const model::RankAnalysis& rank : report.job.ranks) {
    const model::Steps& steps = rank.steps;
    if (steps.steps.size() < kEnough) continue;
    const auto first = static_cast<double>(steps.steps.front().span.length());
    const auto usual = static_cast<double>(steps.stats.p50);
    const auto window = static_cast<double>(steps.window.length());
    if (first < kFar * usual || first - usual < kWorthSaying * window) continue;
    return fmt::format(
        "The first step takes {}, the median {}: if that is warming up (compilation, caches), it "
        "does not recur, and the shares {}are too pessimistic.",
        format_duration(first), format_duration(usual), report.price ? "and money " : "");
  }
  return "";
}

}  // namespace

std::vector<std::string> waterfall_notes(const Report& report) {
  const cost::Usage usage = cost::usage_of(report.job);
  std::vector<std::string> notes = {basis_note(report, usage)};
  for (std::string& note : unattributed_notes(report)) notes.push_back(std::move(note));
  for (const std::string& note : {outside_note(report), first_step_note(report)}) {
    if (!note.empty()) notes.push_back(note);
  }
  if (has_parts(view_of(report.job, usage.step_causes))) {
    notes.emplace_back("Likely: recognised by its pattern; no range was recorded for it.");
  }
  const bool communicates = model::at(report.job.causes, model::Cause::kCommTransfer) > 0;
  const bool skew_known =
      std::any_of(report.job.ranks.begin(), report.job.ranks.end(),
                  [](const model::RankAnalysis& rank) { return rank.waterfall.skew_known; });
  if (communicates && !skew_known) {
    notes.emplace_back(
        "How much of the communication is waiting for a later rank is not known: "
        "that takes several ranks.");
  }
  const auto whole = static_cast<double>(usage.gpu_time);
  const StepTime time = step_time(report);
  double host_idle = 0;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const auto cause = static_cast<model::Cause>(i);
    const bool idle = model::cause_info(cause).group == model::CauseGroup::kIdle;
    if (idle && cause != model::Cause::kIdleDevice) {
      host_idle += static_cast<double>(report.job.causes[i]);
    }
  }
  constexpr double kMuchProfiler = 0.97;
  constexpr double kMuchIdle = 0.05;
  if (!is_recording(report) && time.corrected &&
      time.without_profiler_ns < kMuchProfiler * time.recorded_ns &&
      host_idle > kMuchIdle * whole) {
    notes.emplace_back(
        "The profiler slows the host down, so the idle shares are upper bounds; predictions "
        "are made on the time without it.");
  }
  return notes;
}

}  // namespace pyrometer::output
