#include "tests/reference/hta_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "analysis/interval_set.h"

namespace pyrometer::testing {
namespace {

using analysis::IntervalSet;
using model::DurationNs;
using model::Index;
using model::Interval;
using model::kNone;
using model::RankTimeline;
using model::TimeNs;

constexpr double kNsPerUs = 1000.0;

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

constexpr std::string_view kMarker = "ProfilerStep";

// Distinct names of step markers and the end of the last. Traces of 2021 have them as operators.
struct Markers {
  std::set<std::string_view> names;
  TimeNs last_start = 0;
  TimeNs last_end = 0;
};

template <typename Table>
void add_markers(const RankTimeline& t, const Table& table, Markers& markers) {
  for (Index i = 0; i < table.size(); ++i) {
    const std::string_view name = t.name(table.name[i]);
    if (!name.starts_with(kMarker)) continue;
    markers.names.insert(name);
    markers.last_start = std::max(markers.last_start, table.start[i]);
    markers.last_end = std::max(markers.last_end, table.end[i]);
  }
}

Markers step_markers(const RankTimeline& t) {
  Markers markers;
  add_markers(t, t.annotations, markers);
  add_markers(t, t.host_ops, markers);
  return markers;
}

HtaRow row_of(TimeNs start, TimeNs end, std::string_view name, std::int32_t stream) {
  HtaRow row;
  row.start = start;
  row.end = end;
  row.name = name;
  row.stream = stream;
  return row;
}

void add_activities(const RankTimeline& t, std::vector<HtaRow>& rows) {
  const model::ActivityTable& a = t.activities;
  for (Index i = 0; i < a.size(); ++i) {
    HtaRow row = row_of(a.start[i], a.end[i], t.name(a.name[i]), a.stream[i]);
    if (a.launch[i] != kNone) row.launch = t.api_calls.start[a.launch[i]];
    row.index = i;
    rows.push_back(row);
  }
}

void add_syncs(const RankTimeline& t, std::vector<HtaRow>& rows) {
  std::unordered_map<std::uint64_t, TimeNs> launch;
  for (Index i = 0; i < t.api_calls.size(); ++i) {
    launch.emplace(t.api_calls.correlation[i], t.api_calls.start[i]);
  }
  for (Index i = 0; i < t.syncs.size(); ++i) {
    HtaRow row =
        row_of(t.syncs.start[i], t.syncs.end[i], t.name(t.syncs.name[i]), t.syncs.stream[i]);
    const auto call = launch.find(t.syncs.correlation[i]);
    if (call != launch.end() && call->first != 0) row.launch = call->second;
    row.source = HtaRow::Source::kSync;
    row.index = i;
    rows.push_back(row);
  }
}

void add_operators(const RankTimeline& t, std::string_view prefix, std::vector<HtaRow>& rows) {
  if (prefix.empty()) return;
  for (Index i = 0; i < t.host_ops.size(); ++i) {
    const std::string_view name = t.name(t.host_ops.name[i]);
    if (!name.starts_with(prefix)) continue;
    HtaRow row = row_of(t.host_ops.start[i], t.host_ops.end[i], name, 0);
    row.source = HtaRow::Source::kOperator;
    row.index = i;
    rows.push_back(row);
  }
}

// Rows by start, as HTA sorts them.
std::vector<const HtaRow*> sorted(const std::vector<HtaRow>& rows) {
  std::vector<const HtaRow*> order;
  for (const HtaRow& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(),
                   [](const HtaRow* a, const HtaRow* b) { return a->start < b->start; });
  return order;
}

// Unions of one class. Rows nearer than `slack` to what came before are joined with it, so that
// +1 and −1 ns show what floating point may make of rows that touch.
std::vector<Interval> merged(const std::vector<HtaRow>& rows, HtaClass klass, DurationNs slack) {
  std::vector<Interval> result;
  for (const HtaRow* row : sorted(rows)) {
    if (row->klass != klass) continue;
    if (!result.empty() && row->start <= result.back().end + slack) {
      result.back().end = std::max(result.back().end, row->end);
    } else {
      result.push_back({row->start, row->end});
    }
  }
  return result;
}

IntervalSet set_of(const std::vector<HtaRow>& rows, std::optional<HtaClass> klass) {
  std::vector<Interval> spans;
  for (const HtaRow& row : rows) {
    if (!klass || row.klass == *klass) spans.push_back({row.start, row.end});
  }
  return IntervalSet(std::move(spans));
}

constexpr std::array kTypes = {HtaClass::kComputation, HtaClass::kCommunication, HtaClass::kMemory};

std::string name_of_mask(unsigned mask) {
  std::string name;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if ((mask & (1U << i)) == 0) continue;
    if (!name.empty()) name += " overlapping ";
    name += hta_class_name(kTypes[i]);
  }
  return name;
}

// Whole µs of every segment between two changes of what runs, with `error` ns added to each.
std::map<std::string, std::int64_t> whole_microseconds(const std::vector<HtaRow>& rows,
                                                       DurationNs slack, DurationNs error) {
  struct Edge {
    TimeNs time;
    int change;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    for (const Interval& span : merged(rows, kTypes[i], slack)) {
      edges.push_back({span.start, 1 << i});
      edges.push_back({span.end, -(1 << i)});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time < b.time; });
  std::map<std::string, std::int64_t> sums;
  int running = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    if (running <= 0) continue;
    const DurationNs length = std::max<DurationNs>(0, edges[i + 1].time - edges[i].time + error);
    sums[name_of_mask(static_cast<unsigned>(running))] += length / 1000;
  }
  return sums;
}

}  // namespace

std::string_view hta_class_name(HtaClass klass) {
  switch (klass) {
    case HtaClass::kComputation:
      return "COMPUTATION";
    case HtaClass::kCommunication:
      return "COMMUNICATION";
    case HtaClass::kMemory:
      return "MEMORY";
    case HtaClass::kOther:
      break;
  }
  return "OTHER";
}

HtaClass hta_class(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (starts_with_any(name, {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"})) {
    return HtaClass::kMemory;
  }
  if (starts_with_any(name, {"nccl", "hip", "hccl"}) || has("ncclKernel")) {
    return HtaClass::kCommunication;
  }
  // cuda_sync records; a kernel that only has "Sync" in its name goes with them.
  if (has("Sync") || has("Memcpy") || has("Stream Wait Event")) return HtaClass::kOther;
  return HtaClass::kComputation;
}

std::vector<HtaRow> hta_candidates(const RankTimeline& t, const HtaOptions& options) {
  std::vector<HtaRow> rows;
  add_activities(t, rows);
  add_syncs(t, rows);
  add_operators(t, options.operators_with_stream, rows);
  for (HtaRow& row : rows) row.klass = hta_class(row.name);
  return rows;
}

std::vector<HtaRow> hta_rows(const RankTimeline& t, const HtaOptions& options) {
  std::vector<HtaRow> rows = hta_candidates(t, options);
  const Markers markers = step_markers(t);
  if (markers.names.size() < 2) return rows;
  std::erase_if(rows, [&](const HtaRow& row) {
    if (!row.launch) return true;
    return options.drop_last_step ? *row.launch >= markers.last_start
                                  : *row.launch > markers.last_end;
  });
  return rows;
}

HtaTemporal hta_temporal(const std::vector<HtaRow>& rows) {
  const IntervalSet all = set_of(rows, std::nullopt);
  HtaTemporal t;
  const DurationNs window = all.hull().length();
  const DurationNs compute = set_of(rows, HtaClass::kComputation).length();
  t.kernel_time = static_cast<double>(window) / kNsPerUs;
  t.idle = static_cast<double>(window - all.length()) / kNsPerUs;
  t.compute = static_cast<double>(compute) / kNsPerUs;
  t.non_compute = static_cast<double>(all.length() - compute) / kNsPerUs;
  return t;
}

std::optional<double> hta_overlap_pct(const std::vector<HtaRow>& rows) {
  const IntervalSet comm = set_of(rows, HtaClass::kCommunication);
  if (comm.empty()) return std::nullopt;
  const IntervalSet compute = set_of(rows, HtaClass::kComputation);
  const double share =
      static_cast<double>(overlap_length(comm, compute)) / static_cast<double>(comm.length());
  return std::round(share * 100 * 100) / 100;
}

std::map<std::string, HtaTypeTime> hta_type_times(const std::vector<HtaRow>& rows) {
  // Times in whole µs are exact in floating point.
  const bool whole = std::all_of(rows.begin(), rows.end(), [](const HtaRow& row) {
    return row.start % 1000 == 0 && row.end % 1000 == 0;
  });
  const DurationNs error = whole ? 0 : 1;
  std::map<std::string, HtaTypeTime> result;
  for (const auto& [name, us] : whole_microseconds(rows, -error, -error)) {
    result[name].low_us = us;
  }
  for (const auto& [name, us] : whole_microseconds(rows, error, error)) result[name].high_us = us;
  return result;
}

std::map<std::pair<std::string, HtaClass>, double> hta_kernel_sums(
    const std::vector<HtaRow>& rows) {
  std::map<std::pair<std::string, HtaClass>, double> sums;
  for (const HtaRow& row : rows) {
    if (row.klass == HtaClass::kOther) continue;
    sums[{std::string(row.name), row.klass}] += static_cast<double>(row.end - row.start) / kNsPerUs;
  }
  return sums;
}

std::map<std::pair<std::int32_t, std::string>, HtaIdle> hta_idle(const std::vector<HtaRow>& rows,
                                                                 const HtaOptions& options) {
  constexpr DurationNs kKernelWait = 30'000;
  std::map<std::pair<std::int32_t, std::string>, HtaIdle> idle;
  std::map<std::int32_t, TimeNs> previous_end;
  for (const HtaRow* row : sorted(rows)) {
    if (row->source != HtaRow::Source::kActivity) continue;
    const auto [previous, is_first] = previous_end.try_emplace(row->stream, row->end);
    if (is_first) {
      idle[{row->stream, "other"}].us += 0;  // HTA lists the first row with an unknown gap
      continue;
    }
    const DurationNs gap = row->start - previous->second;
    const double us = static_cast<double>(gap) / kNsPerUs;
    const std::string without_host = gap < kKernelWait ? "kernel_wait" : "other";
    const bool host = row->launch && *row->launch > previous->second;
    idle[{row->stream, host ? "host_wait" : without_host}].us += us;
    if (row->launch && std::abs(*row->launch - previous->second) <= options.grain) {
      idle[{row->stream, "host_wait"}].either_us += us;
      idle[{row->stream, without_host}].either_us += us;
    }
    previous->second = row->end;
  }
  return idle;
}

}  // namespace pyrometer::testing
