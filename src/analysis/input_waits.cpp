#include "analysis/input_waits.h"

#include <algorithm>
#include <vector>

#include "analysis/region_rule.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::Interval;
using model::LoaderKind;
using model::TimeNs;

struct Waits {
  std::vector<Interval> spans;  // outermost loader ranges of the main thread, by time
  LoaderKind kind = LoaderKind::kNoLoader;
};

LoaderKind kind_of(std::string_view name) {
  if (name.find("_SingleProcess") != name.npos) return LoaderKind::kSingleProcess;
  if (name.find("_MultiProcessing") != name.npos) return LoaderKind::kMultiProcess;
  return LoaderKind::kUnknown;
}

// Loader ranges from annotations; from Python frames where the trace has no such annotation.
template <typename Table>
void collect(const model::RankTimeline& t, const Table& table, model::RowRange rows,
             RegionWhere where, Interval window, Waits& waits) {
  std::vector<char> known(t.names.size(), -1);
  for (Index i = rows.begin; i < rows.end; ++i) {
    char& is_input = known[table.name[i]];
    if (is_input < 0) {
      const std::string_view name = t.name(table.name[i]);
      const bool waits_for_batch = !name.starts_with("pyrometer.loader_start");
      is_input = waits_for_batch && region_of_name(name, where) == HostState::kInput ? 1 : 0;
    }
    if (is_input == 0 || !contains(window, table.start[i])) continue;
    if (!waits.spans.empty() && table.start[i] < waits.spans.back().end) continue;  // nested
    waits.spans.push_back({table.start[i], table.end[i]});
    const LoaderKind kind = kind_of(t.name(table.name[i]));
    if (waits.kind == LoaderKind::kNoLoader || waits.kind == LoaderKind::kUnknown)
      waits.kind = kind;
  }
}

// Whether the main thread launches anything on a device in [from, to).
bool launches_between(const model::RankTimeline& t, TimeNs from, TimeNs to) {
  const model::RowRange rows =
      rows_within(t.api_calls.start, t.threads[t.main_thread].api_calls, {from, to});
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (t.api_calls.first_activity[i] != model::kNone) return true;
  }
  return false;
}

// Two loader ranges with no launch between them: the first found the old iterator exhausted, the
// second is the new iterator's first. What lies between is the making of the iterator.
void find_iterator_starts(const model::RankTimeline& t, const Waits& waits, model::Pauses& pauses) {
  for (std::size_t i = 0; i + 1 < waits.spans.size(); ++i) {
    const Interval& last = waits.spans[i];
    const Interval& first = waits.spans[i + 1];
    if (launches_between(t, last.start, first.start)) continue;
    const DurationNs ordinary = pauses.input.p50;
    const DurationNs excess = (first.end - last.start) - ordinary;
    ++pauses.input.iterator_starts;
    pauses.input.iterator_start_time += std::max<DurationNs>(0, excess);
    if (first.start > last.end) {
      pauses.inferred.push_back({{last.end, first.start}, model::Cause::kIdleInput, 0, 0});
    }
  }
}

std::int64_t operators_inside(const model::RankTimeline& t, const Waits& waits) {
  std::int64_t count = 0;
  for (const Interval& span : waits.spans) {
    count += rows_within(t.host_ops.start, t.threads[t.main_thread].host_ops, span).size();
  }
  return count;
}

std::string_view kind_text(LoaderKind kind) {
  switch (kind) {
    case LoaderKind::kSingleProcess:
      return "single process";
    case LoaderKind::kMultiProcess:
      return "worker processes";
    default:
      return "unknown";
  }
}

}  // namespace

void measure_input_waits(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  Waits waits;
  if (!t.threads.empty()) {
    const model::Thread& main = t.threads[t.main_thread];
    collect(t, t.annotations, main.annotations, RegionWhere::kAnnotation, a.steps.window, waits);
    if (waits.spans.empty()) {
      collect(t, t.python, main.python, RegionWhere::kPython, a.steps.window, waits);
    }
  }
  if (waits.spans.empty()) {
    facts.all_missing("input", "the trace has no data loader ranges");
    return;
  }
  model::InputWaits& input = a.pauses.input;
  input.kind = waits.kind;
  input.waits = static_cast<std::int64_t>(waits.spans.size());
  std::vector<DurationNs> lengths;
  for (const Interval& span : waits.spans) {
    lengths.push_back(span.length());
    input.total += clipped(span.start, span.end, a.steps.window);
  }
  std::sort(lengths.begin(), lengths.end());
  input.p50 = lengths[(lengths.size() - 1) / 2];
  input.max = lengths.back();
  input.operators = operators_inside(t, waits);
  find_iterator_starts(t, waits, a.pauses);

  facts.host_share(FactId::kInputWaitShare, input.total);
  facts.set_text(FactId::kInputLoader, std::string(kind_text(input.kind)));
  facts.set(FactId::kInputWaitP50, static_cast<double>(input.p50));
  facts.set(FactId::kInputWaitMax, static_cast<double>(input.max));
  facts.set(FactId::kInputOperatorsPerWait,
            static_cast<double>(input.operators) / static_cast<double>(input.waits));
  facts.set(FactId::kInputIteratorStarts, static_cast<double>(input.iterator_starts));
  facts.host_share(FactId::kInputIteratorStartShare, input.iterator_start_time);
}

}  // namespace pyrometer::analysis
