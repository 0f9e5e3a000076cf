// Gradient reductions per optimizer step.

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "analysis/comm.h"

namespace pyrometer::analysis {
namespace {

using model::Collective;
using model::Index;
using model::Interval;
using model::kNone;
using model::TimeNs;

struct Reduction {
  TimeNs launched = 0;
  double amount = 0;  // bytes; 1 each where they are not given for all
};

std::vector<Reduction> reductions(const model::RankTimeline& t, const model::CommTable& table) {
  std::vector<Reduction> result;
  bool all_sized = true;
  for (const model::CommCall& call : table.calls) {
    if (call.collective != Collective::kAllReduce && call.collective != Collective::kReduceScatter)
      continue;
    const Index launch = t.activities.launch[call.activity];
    if (launch == kNone) continue;  // launched before the profiler was on
    result.push_back({t.api_calls.start[launch], static_cast<double>(call.bytes)});
    all_sized = all_sized && call.bytes >= 0;
  }
  if (!all_sized) {
    for (Reduction& r : result) r.amount = 1;
  }
  std::sort(result.begin(), result.end(),
            [](const Reduction& a, const Reduction& b) { return a.launched < b.launched; });
  return result;
}

// Starts of the forward passes of a data-parallel model: outermost ranges only, since FSDP wraps
// modules inside modules.
std::vector<TimeNs> forward_passes(const model::RankTimeline& t) {
  std::vector<Interval> spans;
  for (Index i = 0; i < t.annotations.size(); ++i) {
    const std::string_view name = t.name(t.annotations.name[i]);
    if (name == "DistributedDataParallel.forward" || name == "FullyShardedDataParallel.forward") {
      spans.push_back({t.annotations.start[i], t.annotations.end[i]});
    }
  }
  std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<TimeNs> starts;
  TimeNs outer_end = 0;
  for (const Interval& span : spans) {
    if (!starts.empty() && span.start < outer_end) continue;
    starts.push_back(span.start);
    outer_end = span.end;
  }
  return starts;
}

// Starts of the optimizer steps. With several optimizers the one that steps most often counts.
std::vector<TimeNs> optimizer_steps(const model::RankTimeline& t) {
  std::map<std::string_view, std::vector<TimeNs>> by_name;
  for (Index i = 0; i < t.annotations.size(); ++i) {
    const std::string_view name = t.name(t.annotations.name[i]);
    if (name.starts_with("Optimizer.step#")) by_name[name].push_back(t.annotations.start[i]);
  }
  std::vector<TimeNs> result;
  for (auto& [name, starts] : by_name) {
    if (starts.size() > result.size()) result = std::move(starts);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Reductions of one optimizer step, as a multiple of the largest of its backward passes; 0 when it
// has none. `forwards` are those before the optimizer's call at `end`.
double multiple(const std::vector<TimeNs>& forwards, std::size_t first, std::size_t last,
                TimeNs end, const std::vector<Reduction>& all) {
  double sum = 0;
  double largest = 0;
  for (std::size_t i = first; i < last; ++i) {
    const TimeNs until = i + 1 < last ? forwards[i + 1] : end;
    auto r = std::lower_bound(all.begin(), all.end(), forwards[i],
                              [](const Reduction& x, TimeNs time) { return x.launched < time; });
    double amount = 0;
    for (; r != all.end() && r->launched < until; ++r) amount += r->amount;
    sum += amount;
    largest = std::max(largest, amount);
  }
  return largest > 0 ? sum / largest : 0;
}

}  // namespace

RepeatedReductions repeated_reductions(const model::RankTimeline& t, const model::RankAnalysis& a) {
  const std::vector<Reduction> all = reductions(t, a.comm);
  if (all.empty()) return {0, "there are no reductions whose launch was seen"};
  const std::vector<TimeNs> forwards = forward_passes(t);
  if (forwards.empty()) {
    return {0, "needs the ranges of a DistributedDataParallel or FullyShardedDataParallel model"};
  }
  const std::vector<TimeNs> optimizer = optimizer_steps(t);
  std::vector<double> times;
  std::size_t first = 0;
  for (const TimeNs step : optimizer) {
    const auto last = static_cast<std::size_t>(
        std::lower_bound(forwards.begin(), forwards.end(), step) - forwards.begin());
    const double multiple_of_one = multiple(forwards, first, last, step, all);
    first = last;
    if (multiple_of_one > 0) times.push_back(multiple_of_one);
  }
  if (times.empty()) {
    return {0, "needs an Optimizer.step range after a backward pass with reductions"};
  }
  // The first step may have begun before the trace did.
  if (times.size() > 1) times.erase(times.begin());
  return {std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()), {}};
}

}  // namespace pyrometer::analysis
