#include "analysis/input_waits.h"

#include <algorithm>
#include <iterator>
#include <utility>
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

constexpr std::string_view kWorkersStart = "pyrometer.loader_start#workers";

// What a recording knows of a batch when the wait for it began.
enum class BatchWas : std::uint8_t { kNotKnown, kReady, kUnpinned };

struct Waits {
  std::vector<Interval> spans;    // outermost loader ranges of the main thread, by time
  std::vector<LoaderKind> kinds;  // of each
  std::vector<BatchWas> batches;  // of each
};

BatchWas batch_was(std::string_view name) {
  if (name.ends_with(" (batch ready)")) return BatchWas::kReady;
  if (name.ends_with(" (batch not pinned)")) return BatchWas::kUnpinned;
  return BatchWas::kNotKnown;
}

std::vector<Interval> spans_of(const Waits& waits, BatchWas what) {
  std::vector<Interval> spans;
  for (std::size_t i = 0; i < waits.spans.size(); ++i) {
    if (waits.batches[i] == what) spans.push_back(waits.spans[i]);
  }
  return spans;
}

DurationNs time_of(const Waits& waits, BatchWas what, Interval window) {
  DurationNs sum = 0;
  for (std::size_t i = 0; i < waits.spans.size(); ++i) {
    if (waits.batches[i] != what) continue;
    sum += clipped(waits.spans[i].start, waits.spans[i].end, window);
  }
  return sum;
}

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
    waits.kinds.push_back(kind_of(t.name(table.name[i])));
    waits.batches.push_back(batch_was(t.name(table.name[i])));
  }
}

// The kind that is known of most of the waiting.
LoaderKind main_kind(const Waits& waits) {
  DurationNs single = 0;
  DurationNs multi = 0;
  for (std::size_t i = 0; i < waits.spans.size(); ++i) {
    const DurationNs length = waits.spans[i].length() + 1;
    if (waits.kinds[i] == LoaderKind::kSingleProcess) single += length;
    if (waits.kinds[i] == LoaderKind::kMultiProcess) multi += length;
  }
  if (single == 0 && multi == 0) return LoaderKind::kUnknown;
  return single > multi ? LoaderKind::kSingleProcess : LoaderKind::kMultiProcess;
}

// Outermost validation ranges of the main thread, by time.
std::vector<Interval> validations_of(const model::RankTimeline& t) {
  std::vector<Interval> found;
  const model::RowRange rows = t.threads[t.main_thread].annotations;
  std::vector<char> known(t.names.size(), -1);
  for (Index i = rows.begin; i < rows.end; ++i) {
    char& is_validation = known[t.annotations.name[i]];
    if (is_validation < 0) {
      const std::string_view name = t.name(t.annotations.name[i]);
      const bool is = region_of_name(name, RegionWhere::kAnnotation) == HostState::kValidation;
      is_validation = is ? 1 : 0;
    }
    if (is_validation == 0) continue;
    if (!found.empty() && t.annotations.start[i] < found.back().end) continue;
    found.push_back({t.annotations.start[i], t.annotations.end[i]});
  }
  return found;
}

// Takes the waits of validations out, unless there are no others: they belong to the validation,
// and its loader is often set up differently. Returns their time within the window.
DurationNs take_out_validation(const std::vector<Interval>& validations, Interval window,
                               Waits& waits) {
  Waits training;
  DurationNs taken = 0;
  for (std::size_t i = 0; i < waits.spans.size(); ++i) {
    const Interval& wait = waits.spans[i];
    const auto after =
        std::upper_bound(validations.begin(), validations.end(), wait.start,
                         [](TimeNs time, const Interval& v) { return time < v.start; });
    if (after != validations.begin() && wait.start < std::prev(after)->end) {
      taken += clipped(wait.start, wait.end, window);
      continue;
    }
    training.spans.push_back(wait);
    training.kinds.push_back(waits.kinds[i]);
    training.batches.push_back(waits.batches[i]);
  }
  if (training.spans.empty()) return 0;
  waits = std::move(training);
  return taken;
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

// End of the step that begins the run: workers that start before it do so for the first time.
TimeNs first_step_end(const model::RecordedRun& run) {
  if (run.steps.empty() || run.steps.front().index != 0) return run.span.start;
  return run.steps.front().span.end;
}

// A recording has a marker where worker processes are started; the first batch after it takes
// longer than others because they begin with nothing. The run's first start is no new start.
void count_loader_starts(const model::RankTimeline& t, const Waits& waits, Interval window,
                         model::Pauses& pauses) {
  const model::RowRange rows = t.threads[t.main_thread].annotations;
  const TimeNs begun = first_step_end(*t.run);
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (t.name(t.annotations.name[i]) != kWorkersStart) continue;
    if (!contains(window, t.annotations.start[i]) || t.annotations.start[i] < begun) continue;
    const auto first =
        std::lower_bound(waits.spans.begin(), waits.spans.end(), t.annotations.end[i],
                         [](const Interval& wait, TimeNs end) { return wait.start < end; });
    DurationNs time = t.annotations.end[i] - t.annotations.start[i];
    if (first != waits.spans.end()) {
      time += std::max<DurationNs>(0, first->length() - pauses.input.p50);
    }
    ++pauses.input.iterator_starts;
    pauses.input.iterator_start_time += time;
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
    facts.all_missing("input", "no data loader ranges were recorded");
    return;
  }
  model::InputWaits& input = a.pauses.input;
  input.in_validation = take_out_validation(validations_of(t), a.steps.window, waits);
  input.kind = main_kind(waits);
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
  input.ready = spans_of(waits, BatchWas::kReady);
  if (t.run != nullptr) {
    count_loader_starts(t, waits, a.steps.window, a.pauses);
  } else if (t.activities.size() > 0) {
    find_iterator_starts(t, waits, a.pauses);
  }

  facts.host_share(FactId::kInputWaitShare, input.total);
  if (t.run != nullptr) {
    facts.host_share(FactId::kInputReadyShare, time_of(waits, BatchWas::kReady, a.steps.window));
    facts.host_share(FactId::kInputUnpinnedShare,
                     time_of(waits, BatchWas::kUnpinned, a.steps.window));
  } else {
    facts.missing({FactId::kInputReadyShare, FactId::kInputUnpinnedShare},
                  "a trace says nothing of the loader's queues; pyrometer run does");
  }
  facts.set_text(FactId::kInputLoader, std::string(kind_text(input.kind)));
  facts.set(FactId::kInputWaitP50, static_cast<double>(input.p50));
  facts.set(FactId::kInputWaitMax, static_cast<double>(input.max));
  facts.set(FactId::kInputOperatorsPerWait,
            static_cast<double>(input.operators) / static_cast<double>(input.waits));
  if (t.run == nullptr && t.activities.size() == 0) {
    // Launches tell a new iterator from the next batch.
    facts.missing({FactId::kInputIteratorStarts, FactId::kInputIteratorStartShare},
                  "no device activity was recorded");
    return;
  }
  facts.set(FactId::kInputIteratorStarts, static_cast<double>(input.iterator_starts));
  facts.host_share(FactId::kInputIteratorStartShare, input.iterator_start_time);
}

}  // namespace pyrometer::analysis
