#include "analysis/patterns.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/periods.h"
#include "analysis/sequences.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::kNone;
using model::RepeatedSequence;
using model::StepOutlier;

constexpr std::size_t kMaxSequences = 10;
constexpr double kOutlierSigmas = 3;
constexpr double kOutlierExcess = 1.1;    // over the median
constexpr double kLeastDeviation = 0.01;  // of the median: steps are never more regular than that
constexpr std::size_t kMinStepsForOutliers = 5;
constexpr double kHostBoundShare = 0.1;  // of time with an empty queue

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32);
}

// What a step launches, as two hashes: the names in stream order, and names with grids and blocks.
// Order between streams does not count, it varies from run to run.
struct StepHash {
  std::uint64_t names = 0;
  std::uint64_t shapes = 0;
};

class StepHasher {
 public:
  StepHasher(const model::RankTimeline& t, const model::RankAnalysis& a)
      : t_(t), a_(a), steps_(a.steps.steps.size()) {
    shape_.reserve(t.kernel_configs.size());
    for (const model::KernelConfig& config : t.kernel_configs) {
      std::uint64_t hash = 0;
      for (const std::uint32_t n : config.grid) hash = mix(hash, n);
      for (const std::uint32_t n : config.block) hash = mix(hash, n);
      shape_.push_back(hash);
    }
  }

  [[nodiscard]] std::vector<StepHash> run() {
    for (const model::Device& device : t_.devices) {
      std::map<std::int32_t, Stream> streams;
      Stream* last = nullptr;
      for (Index i = device.activities.begin; i < device.activities.end; ++i) {
        if (last == nullptr || t_.activities.stream[i] != t_.activities.stream[i - 1]) {
          last = &streams[t_.activities.stream[i]];
        }
        add(i, *last);
      }
      for (auto& [number, stream] : streams) finish(stream);
    }
    return std::move(steps_);
  }

 private:
  struct Stream {
    std::size_t step = 0;
    StepHash hash;
    bool empty = true;
  };

  void add(Index i, Stream& stream) {
    const std::size_t step = step_of_activity(t_, a_.steps, i);
    if (step >= steps_.size()) return;
    if (step != stream.step) finish(stream);
    stream.step = step;
    stream.empty = false;
    const bool is_kernel = t_.activities.kind[i] == model::ActivityKind::kKernel;
    const Index detail = t_.activities.detail[i];
    stream.hash.names = mix(stream.hash.names, t_.activities.name[i]);
    stream.hash.shapes = mix(stream.hash.shapes, t_.activities.name[i]);
    if (detail == kNone) return;
    stream.hash.shapes =
        mix(stream.hash.shapes,
            is_kernel ? shape_[detail] : static_cast<std::uint64_t>(t_.copy_bytes[detail]));
  }

  // Streams keep their numbers over steps, but which of a pool's streams is used may change: the
  // number is left out.
  void finish(Stream& stream) {
    if (!stream.empty) {
      steps_[stream.step].names += mix(1, stream.hash.names);
      steps_[stream.step].shapes += mix(1, stream.hash.shapes);
    }
    stream = Stream{};
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  std::vector<StepHash> steps_;
  std::vector<std::uint64_t> shape_;  // by row of kernel_configs
};

// Of the steady steps, the share with the most frequent hash.
double modal_share(const std::vector<StepHash>& steps, std::size_t first,
                   std::uint64_t StepHash::*hash) {
  std::map<std::uint64_t, int> counts;
  int most = 0;
  for (std::size_t i = first; i < steps.size(); ++i)
    most = std::max(most, ++counts[steps[i].*hash]);
  return static_cast<double>(most) / static_cast<double>(steps.size() - first);
}

void compare_steps(const model::RankTimeline& t, model::RankAnalysis& a, FactWriter& facts) {
  const std::size_t first = first_steady_step(a.steps);
  if (a.steps.steps.size() - first < 2 || t.activities.size() == 0) {
    facts.missing({FactId::kPatternsIdenticalSteps, FactId::kPatternsIdenticalShapes},
                  t.activities.size() == 0 ? "no device activity" : "fewer than two steady steps");
    return;
  }
  const std::vector<StepHash> hashes = StepHasher(t, a).run();
  const double shapes = modal_share(hashes, first, &StepHash::shapes);
  facts.set(FactId::kPatternsIdenticalSteps, modal_share(hashes, first, &StepHash::names));
  facts.set(FactId::kPatternsIdenticalShapes, shapes);
  a.patterns.same_sequence_every_step = shapes == 1.0;
}

void find_sequences(const model::RankTimeline& t, model::RankAnalysis& a, FactWriter& facts) {
  std::vector<RepeatedSequence> sequences = repeated_sequences(t, a);
  DurationNs all = 0;
  DurationNs loops = 0;
  for (const RepeatedSequence& sequence : sequences) {
    all += sequence.span_total;
    if (sequence.back_to_back) loops += sequence.span_total;
  }
  facts.device_share(FactId::kPatternsSequenceShare, all);
  facts.device_share(FactId::kPatternsLoopShare, loops);
  if (sequences.empty()) {
    facts.missing({FactId::kPatternsTopSequenceShare, FactId::kPatternsTopSequenceLength,
                   FactId::kPatternsTopSequencePerStep},
                  "no sequence of small kernels repeats");
  } else {
    const RepeatedSequence& top = sequences.front();
    facts.device_share(FactId::kPatternsTopSequenceShare, top.span_total);
    facts.set(FactId::kPatternsTopSequenceLength, static_cast<double>(top.kernels.size()));
    facts.per_step(FactId::kPatternsTopSequencePerStep, static_cast<double>(top.count));
  }
  sequences.resize(std::min(sequences.size(), kMaxSequences));
  a.patterns.sequences = std::move(sequences);
}

// Lengths of the steps for comparison. While the device lags behind the host, the host's pace is
// that of a queue which fills and blocks, and says nothing about steps: there, from the end of one
// step's device work to the end of the next one's.
std::vector<double> step_lengths(const model::RankTimeline& t, const model::RankAnalysis& a) {
  const std::size_t steps = a.steps.steps.size();
  std::vector<double> lengths;
  for (std::size_t i = 0; i < steps; ++i) {
    lengths.push_back(static_cast<double>(comparable_length(a.steps, i)));
  }
  if (a.facts.value_or(FactId::kLaunchQueueEmptyShare, 1) >= kHostBoundShare) return lengths;
  std::vector<model::TimeNs> ends(steps, std::numeric_limits<model::TimeNs>::min());
  for (Index i = 0; i < t.activities.size(); ++i) {
    const std::size_t step = step_of_activity(t, a.steps, i);
    if (step < steps) ends[step] = std::max(ends[step], t.activities.end[i]);
  }
  if (!std::is_sorted(ends.begin(), ends.end()) ||
      ends.front() == std::numeric_limits<model::TimeNs>::min()) {
    return lengths;  // a step without device work
  }
  for (std::size_t i = 1; i < steps; ++i) lengths[i] = static_cast<double>(ends[i] - ends[i - 1]);
  return lengths;
}

void find_outliers(const model::RankTimeline& t, model::RankAnalysis& a, FactWriter& facts) {
  const auto& steps = a.steps.steps;
  const std::size_t first = first_steady_step(a.steps);
  if (steps.size() - first < kMinStepsForOutliers) {
    facts.missing({FactId::kPatternsOutlierCount, FactId::kPatternsOutlierExcessShare,
                   FactId::kPatternsOutlierMaxSigmas, FactId::kPatternsOutlierPeriod},
                  "fewer than five steady steps");
    return;
  }
  std::vector<double> lengths = step_lengths(t, a);
  lengths.erase(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(first));
  const double centre = median(lengths);
  // 1.4826 makes the median deviation the standard deviation of normally distributed values.
  const double sigma = std::max(1.4826 * median_deviation(lengths), kLeastDeviation * centre);
  double most = 0;
  double excess = 0;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double sigmas = sigma > 0 ? (lengths[i] - centre) / sigma : 0;
    most = std::max(most, sigmas);
    if (sigmas <= kOutlierSigmas || lengths[i] <= kOutlierExcess * centre) continue;
    positions.push_back(i);
    excess += lengths[i] - centre;
    StepOutlier outlier;
    outlier.step = static_cast<Index>(first + i);
    outlier.length = static_cast<DurationNs>(lengths[i]);
    outlier.sigmas = sigmas;
    a.patterns.outliers.push_back(outlier);
  }
  const std::size_t period = even_spacing(positions, lengths.size());
  a.patterns.outlier_period = static_cast<std::int32_t>(period);
  facts.set(FactId::kPatternsOutlierCount, static_cast<double>(positions.size()));
  facts.host_share(FactId::kPatternsOutlierExcessShare, static_cast<DurationNs>(excess));
  facts.set(FactId::kPatternsOutlierMaxSigmas, most);
  facts.set(FactId::kPatternsOutlierPeriod, static_cast<double>(period));
}

}  // namespace

void find_patterns(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.patterns.sequences.clear();
  a.patterns.outliers.clear();
  a.patterns.outlier_period = 0;
  a.patterns.same_sequence_every_step = false;
  find_sequences(t, a, facts);
  compare_steps(t, a, facts);
  find_outliers(t, a, facts);
}

}  // namespace pyrometer::analysis
