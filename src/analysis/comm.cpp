#include "analysis/comm.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "analysis/comm_calls.h"
#include "analysis/comm_facts.h"
#include "analysis/comm_names.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ActivityKind;
using model::CommCall;
using model::CommRow;
using model::CommTable;
using model::DurationNs;
using model::Index;
using model::Interval;
using model::kNone;

// Gives every call inside the window its row, and the rows their counts, durations and bytes.
void make_rows(const model::RankTimeline& t, Interval window, CommTable& table) {
  const model::ActivityTable& act = t.activities;
  std::map<std::pair<model::Collective, Index>, Index> row_of;
  std::vector<std::vector<DurationNs>> durations;
  for (CommCall& call : table.calls) {
    const model::TimeNs start = act.start[call.activity];
    call.row = kNone;
    if (!contains(window, start)) continue;
    const auto [at, is_new] =
        row_of.try_emplace({call.collective, call.group}, static_cast<Index>(table.rows.size()));
    if (is_new) {
      CommRow row;
      row.collective = collective_name(call.collective);
      row.group = table.groups[call.group].name;
      row.group_size = table.groups[call.group].size;
      table.rows.push_back(std::move(row));
      durations.emplace_back();
    }
    call.row = at->second;
    durations[call.row].push_back(act.duration(call.activity));
    if (call.bytes >= 0) {
      std::int64_t& bytes = table.rows[call.row].bytes;
      bytes = std::max<std::int64_t>(bytes, 0) + call.bytes;
    }
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].stats = summarise(durations[i]);
  }
}

// What belongs to the steps was launched while they lasted; where the trace has no launches at all,
// what started then.
void count_per_step(const model::RankTimeline& t, const model::RankAnalysis& a, CommTable& table) {
  const Interval span = stepped_span(a.steps);
  const auto launch_of = [&](const CommCall& call) { return t.activities.launch[call.activity]; };
  const bool launches = std::any_of(table.calls.begin(), table.calls.end(),
                                    [&](const CommCall& c) { return launch_of(c) != kNone; });
  for (CommCall& call : table.calls) {
    if (!launches) {
      call.of_steps = contains(span, t.activities.start[call.activity]);
    } else if (launch_of(call) != kNone) {
      call.of_steps = contains(span, t.api_calls.start[launch_of(call)]);
    }
    if (call.of_steps && call.row != kNone) table.rows[call.row].per_step += 1;
  }
  const auto steps = static_cast<double>(a.steps.steps.size());
  for (CommRow& row : table.rows) row.per_step = steps > 0 ? row.per_step / steps : 0;
}

// Longest first; what is equal is told apart by its names.
void sort_rows(CommTable& table) {
  std::vector<Index> order(table.rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const CommRow& x = table.rows[a];
    const CommRow& y = table.rows[b];
    if (x.stats.total != y.stats.total) return x.stats.total > y.stats.total;
    return std::tie(x.collective, x.group) < std::tie(y.collective, y.group);
  });
  std::vector<CommRow> sorted;
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<Index>(i);
    sorted.push_back(std::move(table.rows[order[i]]));
  }
  table.rows = std::move(sorted);
  for (CommCall& call : table.calls) {
    if (call.row != kNone) call.row = place[call.row];
  }
}

// Exposed and overlapped time of every row and of all together, device by device. Communication
// that reaches into the window from before counts as far as it lies inside, as in the waterfall.
void add_exposure(const model::RankTimeline& t, const model::RankAnalysis& a, Interval window,
                  CommTable& table) {
  const model::ActivityTable& act = t.activities;
  DurationNs overlapped = 0;
  std::size_t next = 0;
  for (const model::Device& device : t.devices) {
    std::vector<IntervalSet> by_row(table.rows.size());
    IntervalSet all;
    for (; next < table.calls.size() && table.calls[next].activity < device.activities.end;
         ++next) {
      const CommCall& call = table.calls[next];
      const Interval span{std::max(act.start[call.activity], window.start),
                          std::min(act.end[call.activity], window.end)};
      all.add(span);
      if (call.row != kNone) by_row[call.row].add(span);
    }
    if (all.empty()) continue;
    const IntervalSet compute = compute_time(t, a, device);
    for (std::size_t i = 0; i < by_row.size(); ++i) {
      const DurationNs hidden = overlap_length(by_row[i], compute);
      table.rows[i].overlapped += hidden;
      table.rows[i].exposed += by_row[i].length() - hidden;
    }
    table.total += all.length();
    overlapped += overlap_length(all, compute);
  }
  table.exposed = table.total - overlapped;
  if (table.total > 0) {
    table.overlap = static_cast<double>(overlapped) / static_cast<double>(table.total);
  }
}

}  // namespace

IntervalSet compute_time(const model::RankTimeline& t, const model::RankAnalysis& a,
                         const model::Device& device) {
  IntervalSet result;
  const model::ActivityTable& act = t.activities;
  for (Index i = device.activities.begin; i < device.activities.end; ++i) {
    if (act.kind[i] == ActivityKind::kKernel && !is_comm_kernel(t, a, i)) {
      result.add(act.start[i], act.end[i]);
    }
  }
  return result;
}

Interval comm_window(const model::RankTimeline& t, const model::RankAnalysis& a) {
  if (a.steps.window.length() > 0) return a.steps.window;
  Interval window{};
  for (Index i = 0; i < t.activities.size(); ++i) {
    window.start = i == 0 ? t.activities.start[i] : std::min(window.start, t.activities.start[i]);
    window.end = i == 0 ? t.activities.end[i] : std::max(window.end, t.activities.end[i]);
  }
  return window;
}

void find_communication(const model::RankTimeline& t, model::RankAnalysis& a) {
  CommTable table;
  list_calls(t, a, table);
  const Interval window = comm_window(t, a);
  make_rows(t, window, table);
  sort_rows(table);
  count_per_step(t, a, table);
  add_exposure(t, a, window, table);
  a.comm = std::move(table);
  set_comm_facts(t, a);
}

}  // namespace pyrometer::analysis
