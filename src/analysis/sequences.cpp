#include "analysis/sequences.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/kernels.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::kNone;
using model::NameId;
using model::RepeatedSequence;

constexpr std::size_t kMaxCycle = 16;
constexpr std::size_t kMinRepeats = 3;
constexpr std::size_t kMinLength = 3;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

// The rotation that comes first in order of ids: one key for a cycle wherever it begins.
std::vector<NameId> first_rotation(const std::vector<NameId>& cycle) {
  std::vector<NameId> best = cycle;
  std::vector<NameId> turned = cycle;
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    if (turned < best) best = turned;
  }
  return best;
}

// Counts sequences by content.
class Counter {
 public:
  // One occurrence of `kernels`; `key` equals for sequences that count as the same.
  void add(const std::vector<NameId>& key, std::vector<NameId> kernels, bool back_to_back,
           std::int64_t count, model::DurationNs device, model::DurationNs span) {
    std::uint64_t hash = back_to_back ? 1 : 2;
    for (const NameId name : key) hash = mix(hash, name);
    auto [entry, is_new] = by_hash_.try_emplace(hash, sequences_.size());
    if (is_new) {
      sequences_.emplace_back();
      sequences_.back().kernels = std::move(kernels);
      sequences_.back().back_to_back = back_to_back;
    }
    RepeatedSequence& sequence = sequences_[entry->second];
    sequence.count += count;
    sequence.device_total += device;
    sequence.span_total += span;
  }

  [[nodiscard]] std::vector<RepeatedSequence> take() { return std::move(sequences_); }

 private:
  // 64-bit hashes of at most millions of sequences: equal hashes are equal sequences.
  std::unordered_map<std::uint64_t, std::size_t> by_hash_;
  std::vector<RepeatedSequence> sequences_;
};

// A run of consecutive small kernels on one stream.
class RunSplitter {
 public:
  RunSplitter(const model::RankTimeline& t, Counter& counter) : t_(t), counter_(counter) {}

  void split(const std::vector<Index>& run) {
    if (run.size() < kMinLength) return;
    covered_.assign(run.size(), false);
    for (std::size_t cycle = 1; cycle <= kMaxCycle && cycle * kMinRepeats <= run.size(); ++cycle) {
      find_cycles(run, cycle);
    }
    for (std::size_t from = 0; from < run.size();) {
      std::size_t to = from;
      while (to < run.size() && covered_[to] == covered_[from]) ++to;
      if (!covered_[from] && to - from >= kMinLength) {
        add(run, from, to, to - from, false);
      }
      from = to;
    }
  }

 private:
  [[nodiscard]] NameId name(Index row) const { return t_.activities.name[row]; }

  // Stretches in which every kernel equals the one a cycle later.
  void find_cycles(const std::vector<Index>& run, std::size_t cycle) {
    std::size_t from = 0;
    for (std::size_t i = 0; i + cycle <= run.size(); ++i) {
      const bool goes_on = i + cycle < run.size() && !covered_[i] && !covered_[i + cycle] &&
                           name(run[i]) == name(run[i + cycle]);
      if (goes_on) continue;
      const std::size_t repeats = (i - from) / cycle + 1;
      if (i > from && repeats >= kMinRepeats) {
        const std::size_t to = from + repeats * cycle;
        add(run, from, to, cycle, true);
        std::fill(covered_.begin() + static_cast<std::ptrdiff_t>(from),
                  covered_.begin() + static_cast<std::ptrdiff_t>(to), true);
      }
      from = i + 1;
    }
  }

  void add(const std::vector<Index>& run, std::size_t from, std::size_t to, std::size_t length,
           bool back_to_back) {
    std::vector<NameId> kernels;
    for (std::size_t i = from; i < from + length; ++i) kernels.push_back(name(run[i]));
    model::DurationNs device = 0;
    for (std::size_t i = from; i < to; ++i) device += t_.activities.duration(run[i]);
    const model::DurationNs span = t_.activities.end[run[to - 1]] - t_.activities.start[run[from]];
    const std::vector<NameId> key = back_to_back ? first_rotation(kernels) : kernels;
    counter_.add(key, std::move(kernels), back_to_back,
                 static_cast<std::int64_t>((to - from) / length), device, span);
  }

  const model::RankTimeline& t_;
  Counter& counter_;
  std::vector<bool> covered_;
};

// Collects runs stream by stream and hands them on as they end.
class RunCollector {
 public:
  RunCollector(const model::RankTimeline& t, const model::RankAnalysis& a, RunSplitter& splitter)
      : t_(t), a_(a), splitter_(splitter), small_(t.names.size(), false) {
    for (const model::KernelRow& row : a.kernels.by_name) {
      small_[row.name] =
          row.stats.p50 < kShortKernelNs && row.traits.klass != model::KernelClass::kComm;
    }
  }

  void collect(const model::Device& device) {
    std::map<std::int32_t, Run> runs;
    const auto rows = rows_within(t_.activities.start, device.activities, a_.steps.window);
    for (Index i = rows.begin; i < rows.end; ++i) {
      Run& run = runs[t_.activities.stream[i]];
      if (t_.activities.kind[i] != model::ActivityKind::kKernel || !small_[t_.activities.name[i]]) {
        finish(run);
        continue;
      }
      const std::size_t step = step_of(i);
      if (step != run.step) finish(run);
      run.step = step;
      run.rows.push_back(i);
    }
    for (auto& [stream, run] : runs) finish(run);
  }

 private:
  struct Run {
    std::size_t step = 0;
    std::vector<Index> rows;
  };

  // Of the launch, which is what a step's code issues.
  [[nodiscard]] std::size_t step_of(Index activity) const {
    const Index call = t_.activities.launch[activity];
    return step_at(a_.steps,
                   call == kNone ? t_.activities.start[activity] : t_.api_calls.start[call]);
  }

  void finish(Run& run) {
    splitter_.split(run.rows);
    run.rows.clear();
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  RunSplitter& splitter_;
  std::vector<bool> small_;  // by NameId
};

}  // namespace

std::vector<RepeatedSequence> repeated_sequences(const model::RankTimeline& t,
                                                 const model::RankAnalysis& a) {
  Counter counter;
  RunSplitter splitter(t, counter);
  RunCollector collector(t, a, splitter);
  for (const model::Device& device : t.devices) collector.collect(device);
  std::vector<RepeatedSequence> sequences = counter.take();
  std::erase_if(sequences, [](const RepeatedSequence& s) { return s.count < 2; });
  const auto names_before = [&](const RepeatedSequence& x, const RepeatedSequence& y) {
    return std::lexicographical_compare(x.kernels.begin(), x.kernels.end(), y.kernels.begin(),
                                        y.kernels.end(),
                                        [&](NameId p, NameId q) { return t.name(p) < t.name(q); });
  };
  std::sort(sequences.begin(), sequences.end(),
            [&](const RepeatedSequence& x, const RepeatedSequence& y) {
              if (x.span_total != y.span_total) return x.span_total > y.span_total;
              if (x.back_to_back != y.back_to_back) return x.back_to_back;
              return names_before(x, y);
            });
  return sequences;
}

}  // namespace pyrometer::analysis
