#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "output/section_tools.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

// The cause that took most more time in this step than in the mean step, over all devices.
std::string excess_of(const model::RankWaterfall& waterfall, std::size_t step) {
  model::CauseTimes sum{};
  model::CauseTimes here{};
  std::size_t steps = 0;
  for (const model::DeviceWaterfall& device : waterfall.devices) {
    if (step >= device.steps.size()) continue;
    steps = device.steps.size();
    for (std::size_t i = 0; i < model::kCauseCount; ++i) {
      here[i] += device.steps[step][i];
      for (const model::CauseTimes& each : device.steps) sum[i] += each[i];
    }
  }
  double most = 0;
  std::size_t cause = model::kCauseCount;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const double excess = steps > 0 ? static_cast<double>(here[i]) -
                                          static_cast<double>(sum[i]) / static_cast<double>(steps)
                                    : 0;
    if (excess > most) {
      most = excess;
      cause = i;
    }
  }
  if (cause == model::kCauseCount) return "–";
  return "+" + format_duration(most) + " " +
         std::string(model::cause_info(static_cast<model::Cause>(cause)).title);
}

std::string outlier_line(const model::Patterns& patterns) {
  if (patterns.outliers.empty()) return "";
  std::string text =
      count_of(static_cast<std::int64_t>(patterns.outliers.size()), "outlier") + " beyond 3σ";
  if (patterns.outlier_period > 0) {
    text += ", every " + count_of(patterns.outlier_period, "step");
  }
  return text + ".";
}

}  // namespace

void add_steps(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  const model::Steps& steps = view.analysis.steps;
  if (steps.steps.empty()) return;
  Section section;
  section.title = titled(view, "Steps, slowest first");
  const model::StepStats& stats = steps.stats;
  const auto text = [](model::DurationNs ns) { return format_duration(static_cast<double>(ns)); };
  section.note = describe_steps(report) + ": mean " + text(stats.mean) + ", p50 " +
                 text(stats.p50) + ", p95 " + text(stats.p95) + ", max " + text(stats.max) +
                 ", min " + text(stats.min);
  std::vector<std::size_t> order(steps.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return steps.steps[a].span.length() > steps.steps[b].span.length();
  });
  const DurationUnit unit = column_unit(static_cast<double>(stats.max));
  section.table.columns = {number_column("step"), duration_column("", unit),
                           number_column("× median"),
                           text_column("largest excess over the mean step")};
  const std::size_t shown = shown_rows(order.size(), style);
  for (std::size_t k = 0; k < shown; ++k) {
    const model::Step& step = steps.steps[order[k]];
    const auto length = static_cast<double>(step.span.length());
    section.table.rows.push_back(
        {std::to_string(step.number), unit.format(length),
         stats.p50 > 0 ? fmt::format("{:.2f}", length / static_cast<double>(stats.p50)) : "–",
         excess_of(view.analysis.waterfall, order[k])});
  }
  note_rest(section, shown, order.size());
  const std::string outliers = outlier_line(view.analysis.patterns);
  if (!outliers.empty()) section.lines.push_back(outliers);
  out.push_back(std::move(section));
}

void add_input(const Report& report, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  const model::InputWaits& waits = view.analysis.pauses.input;
  if (waits.waits == 0) return;
  const auto text = [](model::DurationNs ns) { return format_duration(static_cast<double>(ns)); };
  Section section;
  section.title = titled(view, "Data loader");
  section.lines.push_back("Loads " + std::string(word_for(waits.kind).name) + ": " +
                          count_of(waits.waits, "wait") + ", " + text(waits.total) +
                          " in all, p50 " + text(waits.p50) + ", max " + text(waits.max) + "; " +
                          count_of(waits.operators, "operator") + " inside.");
  if (waits.iterator_starts > 0) {
    section.lines.push_back(count_of(waits.iterator_starts, "new iterator") + ", " +
                            text(waits.iterator_start_time) +
                            " lost at their starts beyond an ordinary wait.");
  }
  out.push_back(std::move(section));
}

}  // namespace pyrometer::output
