// Forward simulation of step graphs. Model: docs/concepts/replay.md.
#pragma once

#include <array>
#include <vector>

#include "analysis/step_graph.h"
#include "analysis/what_if.h"

namespace pyrometer::analysis {

// How much of the profiler's cost is taken out of the host's time: weights of the low, middle and
// high estimate. All 0: nothing, the trace as recorded.
struct ProfilerLevel {
  std::array<float, 3> weight{};
};
inline constexpr ProfilerLevel kAsRecorded{};
inline constexpr ProfilerLevel kCorrectedLow{{1, 0, 0}};
inline constexpr ProfilerLevel kCorrected{{0, 1, 0}};
inline constexpr ProfilerLevel kCorrectedHigh{{0, 0, 1}};

// One rank of a job that is replayed.
struct ReplayRank {
  const model::RankTimeline* timeline = nullptr;
  const model::RankAnalysis* analysis = nullptr;
  const StepGraph* graph = nullptr;
  model::Index position = 0;  // of Timeline::ranks
};

// Collectives of the graphs that several ranks take part in.
struct Meetings {
  // By rank (of the replay), by activity of its graph: position of the meeting, kNone for most.
  std::vector<std::vector<model::Index>> of_activity;
  std::vector<std::uint32_t>
      ranks;  // by meeting: how many take part; all of them are in the graphs
  // By rank and chunk: start of the chunk on the clock that all share, ns from that of the first
  // rank.
  std::vector<std::vector<double>> chunk_start;
};

[[nodiscard]] Meetings find_meetings(const std::vector<ReplayRank>& ranks,
                                     const model::CrossRank& cross);

enum class CommMode : std::uint8_t {
  kTogether,  // a collective ends when its last rank has arrived and the transfer is done
  kAlone,     // a collective takes its transfer time, as if the others were always there
};

// Lengths of the replayed steps by rank, ns; steps of all chunks in order. A step's length is from
// the end of all work before it to the end of all work launched in it.
using StepLengths = std::vector<std::vector<double>>;

struct ReplaySettings {
  ProfilerLevel level;
  CommMode comm = CommMode::kTogether;
  // Latencies and delays are the chunk's typical ones instead of each call's own.
  bool typical_delays = false;
};

[[nodiscard]] StepLengths replay(const std::vector<ReplayRank>& ranks, const Meetings& meetings,
                                 const Edit& edit, const ReplaySettings& settings);

// Per-step time the loader takes in a rank's graph, ns, edits and the profiler's share applied.
[[nodiscard]] double loader_time(const ReplayRank& rank, const Edit& edit, ProfilerLevel level);

}  // namespace pyrometer::analysis
