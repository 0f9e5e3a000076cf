#include "analysis/allocator.h"

#include <algorithm>
#include <vector>

#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ApiClass;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::kNone;

// Sums over the steady steps.
struct Steady {
  double mallocs = 0;
  double frees = 0;
  double retries = 0;
  double emptied = 0;
  DurationNs time = 0;
  std::vector<bool> touched;  // by steady step
};

Index outermost_op(const model::RankTimeline& t, Index op) {
  while (op != kNone && t.host_ops.parent[op] != kNone) op = t.host_ops.parent[op];
  return op;
}

class Walk {
 public:
  Walk(const model::RankTimeline& t, const model::RankAnalysis& a)
      : t_(t), a_(a), first_(first_steady_step(a.steps)) {
    steady_.touched.assign(a.steps.steps.size() - first_, false);
  }

  void run(model::AllocatorStats& stats) {
    for (const model::Thread& thread : t_.threads) {
      freed_in_ = kNone;
      in_burst_ = false;
      const auto rows = rows_within(t_.api_calls.start, thread.api_calls, a_.steps.window);
      for (Index i = rows.begin; i < rows.end; ++i) add(i, stats);
    }
  }
  [[nodiscard]] const Steady& steady() const { return steady_; }

 private:
  void add(Index call, model::AllocatorStats& stats) {
    const ApiClass klass = a_.api_class[t_.api_calls.name[call]];
    const bool is_malloc = klass == ApiClass::kAlloc;
    if (!is_malloc && klass != ApiClass::kFree) {
      // Launched work ends a burst; the synchronisation inside empty_cache does not.
      if (t_.api_calls.first_activity[call] != kNone) in_burst_ = false;
      return;
    }
    ++(is_malloc ? stats.malloc_calls : stats.free_calls);
    stats.time += clipped(t_.api_calls.start[call], t_.api_calls.end[call], a_.steps.window);
    const std::size_t step = step_at(a_.steps, t_.api_calls.start[call]);
    const bool in_steady = step >= first_ && step < a_.steps.steps.size();
    if (in_steady) {
      steady_.touched[step - first_] = true;
      steady_.time += t_.api_calls.end[call] - t_.api_calls.start[call];
      ++(is_malloc ? steady_.mallocs : steady_.frees);
    }
    note_pattern(call, is_malloc, in_steady);
  }

  void note_pattern(Index call, bool is_malloc, bool in_steady) {
    const Index op = outermost_op(t_, t_.api_calls.op[call]);
    if (is_malloc) {
      if (op != kNone && op == freed_in_ && in_steady) ++steady_.retries;
      freed_in_ = kNone;
      in_burst_ = false;
      return;
    }
    freed_in_ = op;
    if (op != kNone) return;
    if (!in_burst_ && in_steady) ++steady_.emptied;
    in_burst_ = true;
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  std::size_t first_;
  Steady steady_;
  Index freed_in_ = kNone;  // operator of the last free, kNone when something else came since
  bool in_burst_ = false;   // the last free stood outside operators
};

}  // namespace

void measure_allocator(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.transfers.allocator = {};
  if (t.api_calls.size() == 0) {
    facts.all_missing("allocator", "no runtime or driver calls were recorded");
    return;
  }
  model::AllocatorStats& stats = a.transfers.allocator;
  Walk walk(t, a);
  walk.run(stats);
  const Steady& steady = walk.steady();
  const auto steps = static_cast<double>(steady.touched.size());
  if (steps == 0) {
    facts.all_missing("allocator", "no steps found");
    return;
  }
  const auto touched =
      static_cast<double>(std::count(steady.touched.begin(), steady.touched.end(), true));
  stats.mallocs_per_step = steady.mallocs / steps;
  stats.frees_per_step = steady.frees / steps;
  stats.every_step = touched == steps;
  facts.set(FactId::kAllocatorMallocsPerStep, stats.mallocs_per_step);
  facts.set(FactId::kAllocatorFreesPerStep, stats.frees_per_step);
  facts.set(FactId::kAllocatorEveryStep, stats.every_step ? 1 : 0);
  facts.set(FactId::kAllocatorStepsShare, touched / steps);
  facts.set(FactId::kAllocatorRetriesPerStep, steady.retries / steps);
  facts.set(FactId::kAllocatorEmptiedPerStep, steady.emptied / steps);
  const auto& all = a.steps.steps;
  const DurationNs span = all.back().span.end - all[first_steady_step(a.steps)].span.start;
  facts.ratio(FactId::kAllocatorShare, static_cast<double>(steady.time), static_cast<double>(span),
              "the steps have no length");
}

}  // namespace pyrometer::analysis
