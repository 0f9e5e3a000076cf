#include "output/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "output/change_words.h"
#include "output/section_tools.h"
#include "output/summary.h"
#include "output/svg_chart.h"

namespace pyrometer::output {
namespace {

using tune::Front;
using tune::Measurement;
using tune::Objective;
using tune::Outcome;
using tune::Tried;
using tune::TuneResult;
using tune::Verdict;

constexpr int kPlotWidth = 64;

const Tried* find(const TuneResult& result, const tune::Point& point) {
  const auto at = std::find_if(result.tried.begin(), result.tried.end(),
                               [&](const Tried& one) { return one.last.point == point; });
  return at == result.tried.end() ? nullptr : &*at;
}

std::int64_t count(const TuneResult& result, Outcome outcome) {
  return std::count_if(result.tried.begin(), result.tried.end(),
                       [outcome](const Tried& one) { return one.last.outcome == outcome; });
}

std::string_view outcome_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured:
      return "";
    case Outcome::kOutOfMemory:
      return "out of memory";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kNotReached:
      return "not reached";
    case Outcome::kExcluded:
      return "excluded";
  }
  return "";
}

std::string or_dash(std::optional<double> figure, std::string (*format)(double)) {
  return figure ? format(*figure) : "–";
}

std::string format_loss(double loss) { return fmt::format("{:.4g}", loss); }
// As format_number(), but with as many digits below 1.
std::string format_small(double number) {
  return number < 1 ? fmt::format("{:.3g}", number) : format_number(number);
}
std::string format_seconds(double seconds) { return format_small(seconds) + " s"; }

bool any(const TuneResult& result, std::optional<double> (*figure)(const Measurement&)) {
  return std::any_of(result.tried.begin(), result.tried.end(),
                     [figure](const Tried& one) { return figure(one.last).has_value(); });
}

std::optional<double> memory_of(const Measurement& one) { return one.peak_memory; }
std::optional<double> loss_of(const Measurement& one) { return one.loss; }
std::optional<double> step_rate_of(const Measurement& one) {
  constexpr double kSecond = 1e9;
  return one.step_ns ? std::optional(kSecond / *one.step_ns) : std::nullopt;
}

// A figure as a column, where any configuration has it.
struct Figure {
  const char* title;
  int rank;  // columns of a higher rank go first where room is short
  std::optional<double> (*of)(const Measurement&);
  std::string (*format)(double);
};

constexpr Figure kFigures[] = {
    {"samples/s", 0, tune::samples_per_second, format_number},
    {"steps/s", 3, step_rate_of, format_number},
    {"peak memory", 1, memory_of, format_bytes},
    {"USD/1M samples", 1, tune::usd_per_million_samples, format_usd},
    {"J/sample", 1, tune::joules_per_sample, format_small},
    {"loss", 4, loss_of, format_loss},
};

// A column for each dimension as long as there are few; else one for all of them.
constexpr std::size_t kMostColumns = 4;

void add_columns(const tune::Space& space, Table& table) {
  if (space.dimensions.size() > kMostColumns) {
    table.columns.push_back(text_column("configuration"));
    return;
  }
  for (const tune::Dimension& one : space.dimensions) {
    table.columns.push_back(one.ordered() ? number_column(one.name) : text_column(one.name));
  }
}

void add_cells(const tune::Space& space, const tune::Point& point, std::vector<std::string>& row) {
  if (space.dimensions.size() > kMostColumns) {
    row.push_back(space.text_of(point));
    return;
  }
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) row.push_back(space.value(point, d));
}

Section tried_section(const TuneResult& result) {
  Section out{.title = "What was tried",
              .note = fmt::format("Best first by {}; figures of the longest trial of each. Its "
                                  "length: a quarter, half or all of a trial.",
                                  tune::info_of(result.objective).cost)};
  out.table.columns = {text_column("")};
  add_columns(result.space, out.table);
  std::vector<Figure> shown;
  for (const Figure& figure : kFigures) {
    if (!any(result, figure.of)) continue;
    shown.push_back(figure);
    out.table.columns.push_back(number_column(figure.title, figure.rank));
  }
  const bool to_loss = result.objective == Objective::kTimeToLoss;
  if (to_loss) out.table.columns.push_back(number_column("to the loss"));
  out.table.columns.push_back(number_column("length", 5));
  constexpr const char* kLengths[tune::kRungs] = {"1/4", "1/2", "1"};
  for (const Tried& one : result.tried) {
    const Measurement& last = one.last;
    std::string_view mark = outcome_words(last.outcome);
    if (last.point == result.first && mark.empty()) mark = "first";
    if (result.best == last.point) mark = "best";
    std::vector<std::string> row = {std::string(mark)};
    add_cells(result.space, last.point, row);
    for (const Figure& figure : shown) row.push_back(or_dash(figure.of(last), figure.format));
    if (to_loss) row.push_back(or_dash(last.seconds_to_loss, format_seconds));
    row.push_back(last.outcome == Outcome::kExcluded
                      ? "–"
                      : kLengths[std::clamp(last.rung, 0, tune::kRungs - 1)]);
    out.table.rows.push_back(std::move(row));
  }
  constexpr std::size_t kMostReasons = 10;
  std::size_t more = 0;
  for (const Tried& one : result.tried) {
    if (one.last.reason.empty() || one.last.outcome == Outcome::kExcluded) continue;
    if (out.lines.size() == kMostReasons) {
      ++more;
    } else {
      out.lines.push_back(result.space.text_of(one.last.point) + ": " + one.last.reason + ".");
    }
  }
  if (more > 0) {
    out.lines.push_back(count_of(static_cast<std::int64_t>(more), "more") + " are in the JSON.");
  }
  return out;
}

Section finals_section(const TuneResult& result) {
  Section out{
      .title = "In turns with the first configuration",
      .note = fmt::format("Change of {}; less is better.", tune::info_of(result.objective).cost)};
  out.table.columns = {text_column("")};
  add_columns(result.space, out.table);
  for (const Column& column :
       {number_column("measured"), number_column("interval"), number_column("pairs", 1)}) {
    out.table.columns.push_back(column);
  }
  for (const tune::Final& one : result.finals) {
    std::vector<std::string> row = {std::string(tune::id_of(one.verdict))};
    add_cells(result.space, one.point, row);
    row.push_back(one.pairs > 0 ? format_change(one.ratio.value) : "–");
    row.push_back(format_change_range(one.ratio));
    row.push_back(one.pairs > 0 ? std::to_string(one.pairs) : "–");
    out.table.rows.push_back(std::move(row));
    if (!one.reason.empty()) {
      out.lines.push_back(result.space.text_of(one.point) + ": " + one.reason + ".");
    }
  }
  return out;
}

std::string front_text(const Front& front, double cost) {
  if (front.id == "peak_memory_bytes") return format_bytes(cost);
  if (front.id == "joules_per_sample") return format_small(cost) + " J";
  return format_usd(cost);
}

Section front_section(const TuneResult& result, const Front& front) {
  Section out{.title = "Throughput against " + std::string(front.title),
              .note =
                  "The front: no other configuration has as much of the one for as little of "
                  "the other."};
  add_columns(result.space, out.table);
  out.table.columns.push_back(number_column("samples/s"));
  out.table.columns.push_back(number_column(std::string(front.title)));
  for (const std::size_t i : front.members) {
    const Measurement& one = result.tried[i].last;
    std::vector<std::string> row;
    add_cells(result.space, one.point, row);
    row.push_back(format_number(*tune::samples_per_second(one)));
    row.push_back(front_text(front, *tune::cost_on(front, one)));
    out.table.rows.push_back(std::move(row));
  }
  out.plot = text_scatter(front_scatter(result, front), kPlotWidth);
  return out;
}

}  // namespace

std::string describe_objective(double cost, Objective objective) {
  const double value = tune::objective_of(cost, objective);
  if (objective == Objective::kTimeToLoss) return format_seconds(value) + " to the loss";
  return format_number(value) + " " + std::string(tune::info_of(objective).title);
}

Scatter front_scatter(const TuneResult& result, const Front& front) {
  Scatter out{.x_title = std::string(front.title), .y_title = "samples/s"};
  const std::set<std::size_t> members(front.members.begin(), front.members.end());
  for (const std::size_t i : front.all) {
    const Measurement& one = result.tried[i].last;
    out.points.push_back({.x = *tune::cost_on(front, one),
                          .y = *tune::samples_per_second(one),
                          .on_front = members.contains(i),
                          .is_first = one.point == result.first,
                          .is_best = result.best == one.point,
                          .label = result.space.text_of(one.point)});
  }
  if (out.points.empty()) return out;
  const auto [left, right] =
      std::minmax_element(out.points.begin(), out.points.end(),
                          [](const ScatterPoint& a, const ScatterPoint& b) { return a.x < b.x; });
  const auto [bottom, top] =
      std::minmax_element(out.points.begin(), out.points.end(),
                          [](const ScatterPoint& a, const ScatterPoint& b) { return a.y < b.y; });
  out.x_low = front_text(front, left->x);
  out.x_high = front_text(front, right->x);
  out.y_low = format_number(bottom->y);
  out.y_high = format_number(top->y);
  return out;
}

std::string tune_chart(const TuneResult& result) {
  constexpr std::size_t kMostBars = 40;
  SvgChart chart;
  std::vector<Bar> bars;
  for (const Tried& one : result.tried) {
    if (!one.cost || bars.size() == kMostBars) break;  // best first, those without last
    const double value = tune::objective_of(*one.cost, result.objective);
    bars.push_back({.label = result.space.text_of(one.last.point),
                    .value = value,
                    .value_text = format_number(value),
                    .is_first = one.last.point == result.first,
                    .is_best = result.best == one.last.point});
  }
  if (bars.empty()) return "";
  const bool to_loss = result.objective == Objective::kTimeToLoss;
  chart.add_bars(to_loss ? "seconds to the loss (less is better)"
                         : std::string(tune::info_of(result.objective).title),
                 bars);
  for (const Front& front : result.fronts) {
    chart.add_scatter("Throughput against " + std::string(front.title),
                      front_scatter(result, front));
  }
  return chart.finish();
}

std::string tune_verdict(const TuneResult& result) {
  const std::string first = result.space.text_of(result.first);
  const std::string_view what = tune::info_of(result.objective).cost;
  switch (result.verdict) {
    case Verdict::kBetter:
      return fmt::format("With {}: {} {} ({}) against {}.", result.space.text_of(*result.best),
                         format_change(result.best_ratio.value), what,
                         format_change_range(result.best_ratio), first);
    case Verdict::kNoFirst: {
      const Tried* best = find(result, *result.best);
      const Tried* start = find(result, result.first);
      return fmt::format(
          "Best of what works: {}, {}. There is nothing to compare it with: {}, the first "
          "configuration, has no figure ({}).",
          result.space.text_of(*result.best),
          best != nullptr && best->cost ? describe_objective(*best->cost, result.objective) : "–",
          first, start != nullptr ? start->last.reason : "not tried");
    }
    case Verdict::kNoneWorks:
      return result.interrupted ? "Interrupted before anything was measured."
             : result.tried.empty()
                 ? "Nothing was measured: the budget was over before the first trial."
                 : "No configuration worked.";
    case Verdict::kUndecided:
      return fmt::format("Nothing was found to be better than {} beyond chance; {} not decided.",
                         first, result.finals.size() == 1 ? "one configuration" : "some are");
    case Verdict::kNothing:
      break;
  }
  const std::int64_t others = static_cast<std::int64_t>(result.tried.size()) - 1;
  if (result.interrupted || (result.out_of_budget && result.finals.empty())) {
    return fmt::format("Nothing better than {} was found by then.", first);
  }
  return fmt::format(
      "Nothing to gain: {} as good as {} or worse.",
      others == 1 ? "the other configuration is" : fmt::format("all {} others are", others), first);
}

Document tune_document(const TuneResult& result) {
  Document out{.title = "settings"};
  out.headline = tune_verdict(result);
  if (const Tried* first = find(result, result.first); first != nullptr && first->cost) {
    out.head.emplace_back("first", result.space.text_of(result.first) + " · " +
                                       describe_objective(*first->cost, result.objective));
  }
  if (const Tried* best = result.best ? find(result, *result.best) : nullptr;
      best != nullptr && best->cost) {
    out.head.emplace_back("best", result.space.text_of(*result.best) + " · " +
                                      describe_objective(*best->cost, result.objective));
  }
  const std::int64_t excluded = count(result, Outcome::kExcluded);
  std::string tried =
      fmt::format("{} of {} in {}", static_cast<std::int64_t>(result.tried.size()) - excluded,
                  count_of(static_cast<std::int64_t>(std::min<std::uint64_t>(
                               result.space.size(), std::uint64_t{1} << 62U)),
                           "configuration"),
                  count_of(tune::trials_of(result), "trial"));
  if (excluded > 0) tried += fmt::format(", {} excluded for want of memory", excluded);
  out.head.emplace_back("tried", tried);
  if (!result.tried.empty()) out.head.emplace_back("kept in", result.file);
  if (!result.finals.empty()) out.sections.push_back(finals_section(result));
  if (!result.tried.empty()) out.sections.push_back(tried_section(result));
  for (const Front& front : result.fronts) out.sections.push_back(front_section(result, front));
  if (!result.command.empty()) {
    out.code_title = "To go on";
    out.code = result.command + "\n";
  }
  out.notes = result.notes;
  if (result.taken_over > 0) {
    out.notes.push_back(count_of(static_cast<std::int64_t>(result.taken_over), "trial") +
                        " had been measured before, which this takes over");
  }
  const std::string goes_on =
      result.tried.empty() ? "" : "; pyrometer tune --resume " + result.file + " goes on";
  if (result.out_of_budget) {
    out.notes.push_back("the time budget was over before all was tried" + goes_on);
  }
  if (result.interrupted) {
    out.notes.push_back("interrupted: this is what was known by then" + goes_on);
  }
  if (result.objective == Objective::kTimeToLoss) return out;
  out.notes.emplace_back(
      "settings that train faster per sample may need more samples to the same loss: a larger "
      "batch wants another learning rate");
  return out;
}

}  // namespace pyrometer::output
