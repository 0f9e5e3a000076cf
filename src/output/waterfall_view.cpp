#include "output/waterfall_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include "output/units.h"

namespace pyrometer::output {
namespace {

using model::Cause;
using model::CauseGroup;

constexpr std::int64_t kAllTenths = 1000;
constexpr std::int64_t kSmall = 200;  // a two-hundredth: 0.5%

bool is_idle(CauseGroup group) {
  return group == CauseGroup::kIdle || group == CauseGroup::kUnattributed;
}

// Of each cause of the waterfall, what was inferred, by cause. Only pauses: where a kernel ran
// meanwhile, nothing was lost.
using Inferred = std::array<model::CauseTimes, model::kCauseCount>;

Inferred inferred_of(const model::JobAnalysis& job) {
  Inferred sums{};
  for (const model::RankAnalysis& rank : job.ranks) {
    for (const model::InferredRegion& region : rank.pauses.inferred) {
      for (std::size_t i = 0; i < model::kCauseCount; ++i) {
        const CauseGroup group = model::cause_info(static_cast<Cause>(i)).group;
        if (group != CauseGroup::kIdle && group != CauseGroup::kCopy) continue;
        model::at(sums[i], region.cause) += region.causes[i];
      }
    }
  }
  return sums;
}

void add_parts(WaterfallRow& row, const model::CauseTimes& inferred, model::DurationNs total) {
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (inferred[i] == 0 || inferred[i] < total / kSmall) continue;
    row.parts.push_back(
        {"likely " + std::string(model::cause_info(static_cast<Cause>(i)).title), inferred[i]});
  }
}

WaterfallHalf half_of(const model::CauseTimes& causes, const model::CauseTimes& step_causes,
                      const Inferred& inferred, bool idle, model::DurationNs total) {
  WaterfallHalf half;
  model::DurationNs largest = 0;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (is_idle(model::cause_info(static_cast<Cause>(i)).group) != idle) continue;
    half.time += causes[i];
    half.step_time += step_causes[i];
    largest = std::max(largest, causes[i]);
  }
  std::vector<WaterfallRow> small;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const model::CauseInfo& info = model::cause_info(static_cast<Cause>(i));
    if (causes[i] == 0 || is_idle(info.group) != idle) continue;
    const bool fold = causes[i] < total / kSmall && causes[i] != largest;
    WaterfallRow row{.label = std::string(info.title),
                     .group = info.group,
                     .avoidable = info.avoidable,
                     .time = causes[i],
                     .step_time = step_causes[i]};
    add_parts(row, inferred[i], total);
    (fold ? small : half.rows).push_back(std::move(row));
  }
  if (small.size() == 1) half.rows.push_back(small.front());
  if (small.size() > 1) {
    WaterfallRow other;
    other.label = idle ? "other idle time" : "other busy time";
    other.group = idle ? CauseGroup::kIdle : CauseGroup::kCompute;
    for (const WaterfallRow& row : small) {
      other.time += row.time;
      other.step_time += row.step_time;
    }
    half.rows.push_back(std::move(other));
  }
  return half;
}

}  // namespace

WaterfallView view_of(const model::JobAnalysis& job, const model::CauseTimes& step_causes) {
  WaterfallView view;
  view.total = model::total(job.causes);
  const Inferred inferred = inferred_of(job);
  view.busy = half_of(job.causes, step_causes, inferred, false, view.total);
  view.idle = half_of(job.causes, step_causes, inferred, true, view.total);

  std::vector<WaterfallRow*> rows;
  for (WaterfallRow& row : view.busy.rows) rows.push_back(&row);
  for (WaterfallRow& row : view.idle.rows) rows.push_back(&row);
  std::vector<std::int64_t> times;
  times.reserve(rows.size());
  for (const WaterfallRow* row : rows) times.push_back(row->time);
  const std::vector<std::int64_t> tenths = apportion(times, kAllTenths);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]->tenths = tenths[i];
    (i < view.busy.rows.size() ? view.busy : view.idle).tenths += tenths[i];
  }
  return view;
}

bool has_parts(const WaterfallView& view) {
  const auto with_parts = [](const WaterfallRow& row) { return !row.parts.empty(); };
  return std::any_of(view.busy.rows.begin(), view.busy.rows.end(), with_parts) ||
         std::any_of(view.idle.rows.begin(), view.idle.rows.end(), with_parts);
}

}  // namespace pyrometer::output
