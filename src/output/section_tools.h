// What the builders of sections share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "output/sections.h"
#include "output/summary.h"
#include "output/units.h"

namespace pyrometer::output {

// The rank that tables about one rank show.
struct RankView {
  const model::RankTimeline& timeline;
  const model::RankAnalysis& analysis;
  std::string label;  // "rank 3", empty when there is only one
};

// Null when there are no ranks.
[[nodiscard]] inline const model::RankAnalysis* detail_analysis(const Report& report) {
  const model::Index rank = detail_rank(report);
  return rank == model::kNone ? nullptr : &report.job.ranks[rank];
}

[[nodiscard]] inline RankView detail_view(const Report& report) {
  const model::Index rank = detail_rank(report);
  const model::RankTimeline& timeline = report.timeline.ranks[rank];
  std::string label;
  if (report.timeline.ranks.size() > 1) label = "rank " + std::to_string(timeline.info.rank);
  return {timeline, report.job.ranks[rank], std::move(label)};
}

// "Kernels by name (rank 3)".
[[nodiscard]] inline std::string titled(const RankView& view, const std::string& title) {
  return view.label.empty() ? title : title + " (" + view.label + ")";
}

[[nodiscard]] inline Column text_column(std::string title, int rank = 0) {
  return {std::move(title), Align::kLeft, Shorten::kMiddle, rank};
}
// Of what is copied elsewhere: never shortened.
[[nodiscard]] inline Column whole_column(std::string title) {
  return {std::move(title), Align::kLeft, Shorten::kNever, 0};
}
[[nodiscard]] inline Column symbol_column(std::string title) {
  return {std::move(title), Align::kLeft, Shorten::kSymbol, 0};
}
[[nodiscard]] inline Column number_column(std::string title, int rank = 0) {
  return {std::move(title), Align::kRight, Shorten::kNever, rank};
}
// A duration in the unit of its column.
[[nodiscard]] inline Column duration_column(const std::string& title, const DurationUnit& unit,
                                            int rank = 0) {
  return number_column(title + (title.empty() ? "" : " ") + std::string(unit.name), rank);
}

// One unit for all cells of a column, from its largest value.
[[nodiscard]] inline DurationUnit column_unit(double largest_ns) {
  DurationUnit unit = duration_unit(largest_ns);
  unit.decimals = unit.ns == 1 ? 0 : 2;
  return unit;
}
// For columns of single durations, which reach from microseconds up.
[[nodiscard]] inline DurationUnit fine_unit(double largest_ns) {
  constexpr double kMicro = 1e3;
  constexpr double kMilli = 1e6;
  constexpr double kLarge = 1e8;
  return largest_ns < kLarge ? DurationUnit{"µs", kMicro, 1} : DurationUnit{"ms", kMilli, 2};
}

// "7 more, 1.3% of the time" under a table that was cut; nothing when it was not.
inline void note_rest(Section& section, std::size_t shown, std::size_t all) {
  if (all > shown) {
    section.lines.push_back(count_of(static_cast<std::int64_t>(all - shown), "more row") + ".");
  }
}

// Characters of a curve.
[[nodiscard]] inline int curve_width(const SectionStyle& style) {
  constexpr int kWidest = 60;
  constexpr int kMargin = 4;
  return std::min(kWidest, style.width - kMargin);
}

[[nodiscard]] inline std::size_t shown_rows(std::size_t rows, const SectionStyle& style) {
  return std::min(rows, static_cast<std::size_t>(std::max(1, style.top_n)));
}

}  // namespace pyrometer::output
