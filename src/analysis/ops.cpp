#include "analysis/ops.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::Interval;
using model::kNone;
using model::NameId;
using model::OpRow;
using model::TimeNs;

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

// One row for each name, made on first use.
class RowTable {
 public:
  explicit RowTable(std::size_t names) : row_of_(names, kNone), open_(names, 0) {}

  [[nodiscard]] OpRow& row(NameId name, bool is_annotation) {
    if (row_of_[name] == kNone) {
      row_of_[name] = static_cast<Index>(rows.size());
      rows.emplace_back();
      rows.back().name = name;
      rows.back().is_annotation = is_annotation;
    }
    return rows[row_of_[name]];
  }
  // How many ranges of this name are open on the thread being swept.
  [[nodiscard]] std::uint32_t& open(NameId name) { return open_[name]; }

  std::vector<OpRow> rows;

 private:
  std::vector<Index> row_of_;
  std::vector<std::uint32_t> open_;
};

// Launches of the threads that do not run the training loop, mostly autograd's: they belong to the
// annotations that the main thread is in meanwhile.
class OtherThreads {
 public:
  OtherThreads(const model::RankTimeline& t, const LaunchedWork& work) {
    std::vector<Index> calls;
    for (std::size_t thread = 0; thread < t.threads.size(); ++thread) {
      if (thread == t.main_thread) continue;
      const model::RowRange rows = t.threads[thread].api_calls;
      for (Index i = rows.begin; i < rows.end; ++i) {
        if (work.activities[i] > 0) calls.push_back(i);
      }
    }
    const auto earlier = [&](Index x, Index y) {
      return t.api_calls.start[x] < t.api_calls.start[y];
    };
    if (!std::is_sorted(calls.begin(), calls.end(), earlier)) {
      std::stable_sort(calls.begin(), calls.end(), earlier);
    }
    start_.reserve(calls.size());
    time_.reserve(calls.size() + 1);
    count_.reserve(calls.size() + 1);
    for (const Index call : calls) {
      start_.push_back(t.api_calls.start[call]);
      time_.push_back(time_.back() + work.time[call]);
      count_.push_back(count_.back() + work.activities[call]);
    }
  }

  void add_to(OpRow& row, TimeNs start, TimeNs end) const {
    const auto from = position(start);
    const auto to = position(end);
    row.device_total += time_[to] - time_[from];
    row.kernels += count_[to] - count_[from];
  }

 private:
  [[nodiscard]] std::size_t position(TimeNs time) const {
    return static_cast<std::size_t>(std::lower_bound(start_.begin(), start_.end(), time) -
                                    start_.begin());
  }
  std::vector<TimeNs> start_;
  std::vector<DurationNs> time_ = {0};  // before each launch
  std::vector<std::int64_t> count_ = {0};
};

// Walks one thread's operators, annotations and API calls in order of time with a stack of what is
// open. Sums go to the parent when a range closes, so the whole is linear.
class ThreadSweep {
 public:
  ThreadSweep(const model::RankTimeline& t, Interval window, const LaunchedWork& work,
              const OtherThreads& others, RowTable& ops, RowTable& annotations)
      : t_(t),
        window_(window),
        work_(work),
        others_(others),
        ops_(ops),
        annotations_(annotations) {}

  void run(std::size_t thread_id) {
    const model::Thread& thread = t_.threads[thread_id];
    is_main_ = thread_id == t_.main_thread;
    Index op = thread.host_ops.begin;
    Index note = thread.annotations.begin;
    Index call = thread.api_calls.begin;
    for (;;) {
      const TimeNs op_at = op < thread.host_ops.end ? t_.host_ops.start[op] : kNever;
      const TimeNs note_at = note < thread.annotations.end ? t_.annotations.start[note] : kNever;
      const TimeNs call_at = call < thread.api_calls.end ? t_.api_calls.start[call] : kNever;
      if (call_at < op_at && call_at < note_at) {
        add_call(call++);
      } else if (op_at == kNever && note_at == kNever) {
        break;
      } else if (note_at < op_at ||
                 (note_at == op_at && t_.annotations.end[note] >= t_.host_ops.end[op])) {
        open(t_.annotations.name[note], note_at, t_.annotations.end[note], true);
        ++note;
      } else {
        open(t_.host_ops.name[op], op_at, t_.host_ops.end[op], false);
        ++op;
      }
    }
    close_until(kNever);
  }

 private:
  struct Open {
    NameId name = 0;
    bool is_annotation = false;
    bool outermost = false;  // no range of the same name around it
    TimeNs start = 0, end = 0;
    DurationNs nested = 0;  // host time of ranges directly inside
    DurationNs device_self = 0, device_total = 0;
    std::int64_t kernels = 0;
  };

  RowTable& table(bool is_annotation) { return is_annotation ? annotations_ : ops_; }

  void open(NameId name, TimeNs start, TimeNs end, bool is_annotation) {
    close_until(start);
    // Step markers are steps, not annotations; they have their own table.
    if (is_annotation && t_.name(name).starts_with("ProfilerStep#")) return;
    if (!stack_.empty()) stack_.back().nested += std::min(end, stack_.back().end) - start;
    Open range;
    range.name = name;
    range.is_annotation = is_annotation;
    range.start = start;
    range.end = end;
    range.outermost = table(is_annotation).open(name)++ == 0;
    stack_.push_back(range);
  }

  void add_call(Index call) {
    close_until(t_.api_calls.start[call]);
    if (stack_.empty() || work_.activities[call] == 0) return;
    Open& range = stack_.back();
    range.device_self += work_.time[call];
    range.device_total += work_.time[call];
    range.kernels += work_.activities[call];
  }

  void close_until(TimeNs time) {
    while (!stack_.empty() && (stack_.back().end <= time || time == kNever)) {
      const Open range = stack_.back();
      stack_.pop_back();
      if (!stack_.empty()) {
        stack_.back().device_total += range.device_total;
        stack_.back().kernels += range.kernels;
      }
      --table(range.is_annotation).open(range.name);
      if (contains(window_, range.start)) record(range);
    }
  }

  void record(const Open& range) {
    OpRow& row = table(range.is_annotation).row(range.name, range.is_annotation);
    ++row.count;
    row.host_self += std::max<DurationNs>(0, range.end - range.start - range.nested);
    row.device_self += range.device_self;
    if (!range.outermost) return;
    row.host_total += range.end - range.start;
    row.device_total += range.device_total;
    row.kernels += range.kernels;
    if (range.is_annotation && is_main_) others_.add_to(row, range.start, range.end);
  }

  const model::RankTimeline& t_;
  Interval window_;
  const LaunchedWork& work_;
  const OtherThreads& others_;
  RowTable& ops_;
  RowTable& annotations_;
  bool is_main_ = false;
  std::vector<Open> stack_;
};

std::vector<OpRow> tabulate(const model::RankTimeline& t, const model::RankAnalysis& a) {
  const LaunchedWork work(t);
  const OtherThreads others(t, work);
  RowTable ops(t.names.size());
  RowTable annotations(t.names.size());
  ThreadSweep sweep(t, a.steps.window, work, others, ops, annotations);
  for (std::size_t thread = 0; thread < t.threads.size(); ++thread) sweep.run(thread);
  std::vector<OpRow> rows = std::move(ops.rows);
  rows.insert(rows.end(), annotations.rows.begin(), annotations.rows.end());
  std::sort(rows.begin(), rows.end(), [&](const OpRow& x, const OpRow& y) {
    if (x.device_total != y.device_total) return x.device_total > y.device_total;
    if (x.host_total != y.host_total) return x.host_total > y.host_total;
    if (x.name != y.name) return t.name(x.name) < t.name(y.name);
    return x.is_annotation < y.is_annotation;
  });
  return rows;
}

// Device time of the window's activities, all of it and that launched from within an operator.
struct Attributed {
  double all = 0;
  double in_ops = 0;
};

Attributed attributed(const model::RankTimeline& t, Interval window) {
  Attributed sum;
  for (Index i = 0; i < t.activities.size(); ++i) {
    const auto time =
        static_cast<double>(clipped(t.activities.start[i], t.activities.end[i], window));
    const Index call = t.activities.launch[i];
    sum.all += time;
    if (call != kNone && t.api_calls.op[call] != kNone) sum.in_ops += time;
  }
  return sum;
}

// One step of a recurrent layer, forward.
bool is_rnn_cell(std::string_view name) {
  constexpr auto kAbsent = std::string_view::npos;
  if (name.find("backward") != kAbsent || name.find("Backward") != kAbsent) return false;
  for (const char* cell : {"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}) {
    if (name.find(cell) != kAbsent) return true;
  }
  return false;
}

void set_facts(const model::RankTimeline& t, const model::RankAnalysis& a, FactWriter& facts) {
  std::vector<bool> is_cell(t.names.size(), false);
  for (const OpRow& row : a.host.ops) {
    const std::string_view name = t.name(row.name);
    is_cell[row.name] = !row.is_annotation && is_rnn_cell(name);
  }
  double count = 0;
  double stepped_count = 0;
  double cells = 0;
  const Interval stepped = stepped_span(a.steps);
  for (const model::Thread& thread : t.threads) {
    count += rows_within(t.host_ops.start, thread.host_ops, a.steps.window).size();
    const model::RowRange rows = rows_within(t.host_ops.start, thread.host_ops, stepped);
    stepped_count += rows.size();
    for (Index i = rows.begin; i < rows.end; ++i) {
      const Index parent = t.host_ops.parent[i];
      const bool nested = parent != kNone && is_cell[t.host_ops.name[parent]];
      if (is_cell[t.host_ops.name[i]] && !nested) ++cells;
    }
  }
  facts.set(FactId::kOpsCount, count);
  facts.per_step(FactId::kOpsPerStep, stepped_count);
  facts.per_step(FactId::kOpsRnnCellsPerStep, cells);
  const Attributed share = attributed(t, a.steps.window);
  facts.ratio(FactId::kOpsAttributedShare, share.in_ops, share.all,
              "no device activity in the window");
}

}  // namespace

LaunchedWork::LaunchedWork(const model::RankTimeline& t)
    : time(t.api_calls.size(), 0), activities(t.api_calls.size(), 0) {
  for (Index i = 0; i < t.activities.size(); ++i) {
    const Index call = t.activities.launch[i];
    if (call == kNone) continue;
    time[call] += t.activities.duration(i);
    ++activities[call];
  }
}

void measure_ops(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.host.ops = tabulate(t, a);
  if (t.host_ops.size() == 0) {
    facts.all_missing("ops", "no operators were recorded");
    return;
  }
  set_facts(t, a, facts);
}

}  // namespace pyrometer::analysis
