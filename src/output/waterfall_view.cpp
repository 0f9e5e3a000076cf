#include "output/waterfall_view.h"

#include <algorithm>

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

WaterfallHalf half_of(const model::CauseTimes& causes, const model::CauseTimes& step_causes,
                      bool idle, model::DurationNs total) {
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
    (fold ? small : half.rows)
        .push_back({.label = std::string(info.title),
                    .group = info.group,
                    .avoidable = info.avoidable,
                    .time = causes[i],
                    .step_time = step_causes[i]});
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

WaterfallView view_of(const model::CauseTimes& causes, const model::CauseTimes& step_causes) {
  WaterfallView view;
  view.total = model::total(causes);
  view.busy = half_of(causes, step_causes, false, view.total);
  view.idle = half_of(causes, step_causes, true, view.total);

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

}  // namespace pyrometer::output
