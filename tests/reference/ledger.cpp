#include "tests/reference/ledger.h"

#include <algorithm>

#include "analysis/interval_set.h"

namespace pyrometer::testing {
namespace {

using analysis::IntervalSet;
using model::DurationNs;
using model::Interval;

// Of one device: all traces here drive one per rank.
BusyTimes busy_times(const std::vector<HtaRow>& rows) {
  const auto set_of = [&](HtaClass klass) {
    std::vector<Interval> spans;
    for (const HtaRow& row : rows) {
      if (row.klass == klass) spans.push_back({row.start, row.end});
    }
    return IntervalSet(std::move(spans));
  };
  BusyTimes times;
  IntervalSet covered = set_of(HtaClass::kComputation);
  times.compute = covered.length();
  const auto add = [&](HtaClass klass, DurationNs& time) {
    const DurationNs before = covered.length();
    covered = unite(covered, set_of(klass));
    time = covered.length() - before;
  };
  add(HtaClass::kCommunication, times.comm);
  add(HtaClass::kMemory, times.copy);
  add(HtaClass::kOther, times.other);
  return times;
}

HtaClass our_class(const model::RankTimeline& t, const model::RankAnalysis& a, const HtaRow& row) {
  if (t.activities.kind[row.index] != model::ActivityKind::kKernel) return HtaClass::kMemory;
  const model::KernelTraits traits = a.kernel_traits[t.activities.name[row.index]];
  return traits.klass == model::KernelClass::kComm ? HtaClass::kCommunication
                                                   : HtaClass::kComputation;
}

}  // namespace

std::vector<LedgerLine> ledger(const model::RankTimeline& t, const model::RankAnalysis& a,
                               const HtaOptions& options) {
  std::vector<LedgerLine> lines;
  HtaOptions defaults = options;
  defaults.drop_last_step = true;
  lines.push_back({"HTA by default, without the last step", busy_times(hta_rows(t, defaults))});

  std::vector<HtaRow> rows = hta_rows(t, options);
  lines.push_back({"HTA with the last step, as in the reference", busy_times(rows)});

  std::erase_if(rows, [](const HtaRow& r) { return r.source == HtaRow::Source::kOperator; });
  lines.push_back({"without operators that carry a stream", busy_times(rows)});

  std::erase_if(rows, [](const HtaRow& r) { return r.source == HtaRow::Source::kSync; });
  lines.push_back({"without synchronisation records", busy_times(rows)});

  for (HtaRow& row : rows) row.klass = our_class(t, a, row);
  lines.push_back({"kernels by our classes", busy_times(rows)});

  rows = hta_candidates(t, HtaOptions{});
  std::erase_if(rows, [](const HtaRow& r) { return r.source != HtaRow::Source::kActivity; });
  for (HtaRow& row : rows) row.klass = our_class(t, a, row);
  lines.push_back({"with kernels whose launch is not in the trace", busy_times(rows)});

  const Interval window = a.steps.window;
  for (HtaRow& row : rows) {
    row.start = std::clamp(row.start, window.start, window.end);
    row.end = std::clamp(row.end, window.start, window.end);
  }
  lines.push_back({"within the window of the steps", busy_times(rows)});
  return lines;
}

BusyTimes waterfall_times(const model::RankWaterfall& waterfall) {
  BusyTimes times;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const DurationNs time = waterfall.causes[i];
    switch (model::cause_info(static_cast<model::Cause>(i)).group) {
      case model::CauseGroup::kCompute:
        times.compute += time;
        break;
      case model::CauseGroup::kComm:
        times.comm += time;
        break;
      case model::CauseGroup::kCopy:
        times.copy += time;
        break;
      default:
        break;
    }
  }
  return times;
}

}  // namespace pyrometer::testing
