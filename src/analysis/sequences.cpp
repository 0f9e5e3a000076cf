#include "analysis/sequences.h"

#include <algorithm>
#include <map>
#include <span>
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

std::uint64_t hash_of(std::span<const NameId> kernels, std::size_t first) {
  std::uint64_t hash = kernels.size();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    hash = mix(hash, kernels[(first + i) % kernels.size()]);
  }
  return hash;
}

// Where the rotation of a cycle begins that comes first in order of ids: one key for a cycle
// wherever it is entered.
std::size_t first_rotation(std::span<const NameId> cycle) {
  const std::size_t n = cycle.size();
  std::size_t best = 0;
  for (std::size_t candidate = 1; candidate < n; ++candidate) {
    for (std::size_t i = 0; i < n; ++i) {
      const NameId a = cycle[(candidate + i) % n];
      const NameId b = cycle[(best + i) % n];
      if (a == b) continue;
      if (a < b) best = candidate;
      break;
    }
  }
  return best;
}

// Counts sequences by content.
class Counter {
 public:
  void add(std::span<const NameId> kernels, bool back_to_back, std::int64_t count,
           model::DurationNs device, model::DurationNs span) {
    const std::uint64_t hash =
        back_to_back ? mix(1, hash_of(kernels, first_rotation(kernels))) : hash_of(kernels, 0);
    auto [entry, is_new] = by_hash_.try_emplace(hash, sequences_.size());
    if (is_new) {
      sequences_.emplace_back();
      sequences_.back().kernels.assign(kernels.begin(), kernels.end());
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
    names_.clear();
    for (const Index row : run) names_.push_back(t_.activities.name[row]);
    rest_ = names_;
    for (std::size_t cycle = 1; cycle <= kMaxCycle && cycle * kMinRepeats <= run.size(); ++cycle) {
      find_cycles(run, cycle);
    }
    for (std::size_t from = 0; from < run.size();) {
      std::size_t to = from;
      while (to < run.size() && is_covered(to) == is_covered(from)) ++to;
      if (!is_covered(from) && to - from >= kMinLength) add(run, from, to, to - from, false);
      from = to;
    }
  }

 private:
  // A kernel that belongs to a cycle already has a value in rest_ that equals no other.
  [[nodiscard]] bool is_covered(std::size_t i) const { return rest_[i] != names_[i]; }

  // Stretches in which every kernel equals the one a cycle later.
  void find_cycles(const std::vector<Index>& run, std::size_t cycle) {
    std::size_t from = 0;
    for (std::size_t i = 0; i + cycle <= rest_.size(); ++i) {
      if (i + cycle < rest_.size() && rest_[i] == rest_[i + cycle]) continue;
      const std::size_t repeats = (i - from) / cycle + 1;
      if (i > from && repeats >= kMinRepeats) {
        const std::size_t to = from + repeats * cycle;
        add(run, from, to, cycle, true);
        for (std::size_t k = from; k < to; ++k) rest_[k] = kNone - static_cast<Index>(k);
      }
      from = i + 1;
    }
  }

  void add(const std::vector<Index>& run, std::size_t from, std::size_t to, std::size_t length,
           bool back_to_back) {
    model::DurationNs device = 0;
    for (std::size_t i = from; i < to; ++i) device += t_.activities.duration(run[i]);
    const model::DurationNs span = t_.activities.end[run[to - 1]] - t_.activities.start[run[from]];
    counter_.add(std::span(names_).subspan(from, length), back_to_back,
                 static_cast<std::int64_t>((to - from) / length), device, span);
  }

  const model::RankTimeline& t_;
  Counter& counter_;
  std::vector<NameId> names_;  // of the run
  std::vector<NameId> rest_;   // same, for what is in no cycle yet
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
    Run* last = nullptr;
    const auto rows = rows_within(t_.activities.start, device.activities, a_.steps.window);
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (last == nullptr || t_.activities.stream[i] != t_.activities.stream[i - 1]) {
        last = &runs[t_.activities.stream[i]];
      }
      Run& run = *last;
      if (t_.activities.kind[i] != model::ActivityKind::kKernel || !small_[t_.activities.name[i]]) {
        finish(run);
        continue;
      }
      const std::size_t step = step_of_activity(t_, a_.steps, i);
      if (step != run.step) finish(run);
      if (step == a_.steps.steps.size() && step > 0) continue;
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
