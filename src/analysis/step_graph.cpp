#include "analysis/step_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::kNone;
using model::TimeNs;

// Share of device time without a launch above which a replay would mostly guess.
constexpr double kMaxUnlinkedShare = 0.3;

// Share of device time whose launch was not seen. Work from before the profiler began does not
// count: on its stream it lies before the first whose launch was seen.
double unlinked_share(const model::ActivityTable& a) {
  if (std::find(a.launch.begin(), a.launch.end(), kNone) == a.launch.end()) return 0;
  std::set<std::pair<model::DeviceId, std::int32_t>> reached;
  model::DurationNs linked = 0;
  model::DurationNs unlinked = 0;
  for (Index i = 0; i < a.size(); ++i) {
    if (a.launch[i] != kNone) {
      linked += a.duration(i);
      reached.emplace(a.device[i], a.stream[i]);
    } else if (reached.contains({a.device[i], a.stream[i]})) {
      unlinked += a.duration(i);
    }
  }
  // Nothing linked at all: launches were not recorded.
  if (linked == 0) return 1;
  return static_cast<double>(unlinked) / static_cast<double>(linked + unlinked);
}

// A run on the CPU alone is a chain of host time by step: there is nothing but the host to replay.
bool host_alone(const model::RankTimeline& t) {
  if (t.run == nullptr || t.activities.size() > 0 || t.threads.empty()) return false;
  const auto capture = t.run->info.find("gpu.capture");
  return capture == t.run->info.end() || !capture->second.starts_with("off: ");
}

std::string why_unavailable(const model::RankTimeline& t, const model::RankAnalysis& a) {
  if (a.steps.steps.empty()) return "no steps were found";
  if (host_alone(t)) return {};
  if (t.activities.size() == 0) return "no device activity was recorded";
  if (t.api_calls.size() == 0) return "no launch calls of the host were recorded";
  if (unlinked_share(t.activities) > kMaxUnlinkedShare) {
    return "most device work has no recorded launch call";
  }
  return {};
}

// When the host has come to the end of step `i`: the last step's span holds device work that runs
// on.
TimeNs host_end_of(const model::RankAnalysis& a, Index i) {
  const model::Step& step = a.steps.steps[i];
  const bool last = i + 1 == a.steps.steps.size();
  const bool marked = step.marker.end > step.span.start && step.marker.end <= step.span.end;
  return last && marked ? step.marker.end : step.span.end;
}

void add_chunk(graph::Chunk& chunk) {
  graph::collect_items(chunk);
  graph::measure_host(chunk);
  graph::name_paths(chunk);
  graph::connect(chunk);
  graph::summarize_delays(chunk.graph, chunk.graph.chunks.back());
  graph::attribute_profiler_time(chunk);
  graph::name_syncs(chunk);
}

}  // namespace

namespace graph {

std::uint16_t Dictionaries::name(model::NameId id) {
  std::uint16_t& known = names_[id];
  if (known == kUnseen) {
    known = static_cast<std::uint16_t>(graph_.names.size());
    graph_.names.push_back(id);
  }
  return known;
}

// Streams are few: a linear search is the quickest.
std::uint16_t Dictionaries::stream(model::DeviceId device, std::int32_t stream) {
  for (std::size_t i = 0; i < graph_.streams.size(); ++i) {
    if (graph_.streams[i].stream == stream && graph_.streams[i].device == device) {
      return static_cast<std::uint16_t>(i);
    }
  }
  graph_.streams.push_back({device, stream});
  return static_cast<std::uint16_t>(graph_.streams.size() - 1);
}

std::uint16_t Dictionaries::sync(const GraphSync& sync) {
  const auto next = static_cast<std::uint16_t>(graph_.syncs.size());
  const auto [at, added] = syncs_.try_emplace({sync.api, sync.leaf_op, sync.op}, next);
  if (added) graph_.syncs.push_back(sync);
  return at->second;
}

std::uint16_t Dictionaries::path(std::uint16_t parent, model::NameId name) {
  const auto next = static_cast<std::uint16_t>(graph_.paths.size());
  const auto [at, added] = paths_.try_emplace({parent, name}, next);
  if (added) {
    GraphPath path = graph_.paths[parent];
    path.push_back(name);
    graph_.paths.push_back(std::move(path));
  }
  return at->second;
}

Index outermost_op(const model::RankTimeline& t, Index call) {
  Index op = call == kNone ? kNone : t.api_calls.op[call];
  while (op != kNone && t.host_ops.parent[op] != kNone) op = t.host_ops.parent[op];
  return op;
}

Index first_from(const std::vector<TimeNs>& starts, model::RowRange range, TimeNs time) {
  const auto begin = starts.begin();
  const auto at = std::lower_bound(begin + range.begin, begin + range.end, time);
  return static_cast<Index>(at - begin);
}

}  // namespace graph

Index StepGraph::step_count() const {
  Index count = 0;
  for (const GraphChunk& chunk : chunks) count += chunk.step_count;
  return count;
}

double StepGraph::measured_step_ns() const {
  double total = 0;
  for (const GraphChunk& chunk : chunks) {
    total += static_cast<double>(chunk.step_end.back() - chunk.work_start());
  }
  return chunks.empty() ? 0 : total / step_count();
}

TimeNs GraphChunk::work_start() const {
  TimeNs at = start;
  for (const TimeNs busy : stream_busy) at = std::max(at, busy);
  return at;
}

std::vector<StepRange> choose_steps(const std::vector<std::uint32_t>& items_per_step,
                                    std::uint32_t max_items) {
  const auto steps = static_cast<Index>(items_per_step.size());
  if (steps == 0) return {};
  std::uint64_t total = 0;
  for (const std::uint32_t n : items_per_step) total += n;
  if (total <= max_items) return {{0, steps}};
  const double mean = static_cast<double>(total) / steps;
  const Index wanted = std::max<Index>(1, static_cast<Index>(max_items / mean));
  // Long enough that the ends of a range weigh little, many enough to see the run's course.
  constexpr Index kMinLength = 4;
  constexpr Index kMaxRanges = 8;
  const Index length = std::min(wanted, std::max(kMinLength, wanted / kMaxRanges));
  const Index count = std::max<Index>(1, wanted / length);
  std::vector<StepRange> ranges;
  for (Index i = 0; i < count; ++i) {
    const std::uint64_t room = steps - length;
    const Index first =
        count == 1 ? static_cast<Index>(room / 2) : static_cast<Index>(room * i / (count - 1));
    ranges.push_back({first, length});
  }
  return ranges;
}

std::vector<std::uint32_t> count_items(const model::RankTimeline& t, const model::RankAnalysis& a) {
  std::vector<std::uint32_t> counts(a.steps.steps.size(), 0);
  for (const model::Thread& thread : t.threads) {
    std::size_t step = 0;
    for (Index i = thread.api_calls.begin; i < thread.api_calls.end; ++i) {
      const TimeNs at = t.api_calls.start[i];
      while (step < counts.size() && a.steps.steps[step].span.end <= at) ++step;
      if (step == counts.size()) break;
      if (at < a.steps.steps[step].span.start) continue;
      counts[step] += t.api_calls.activity_count[i];
    }
  }
  return counts;
}

StepGraph build_step_graph(const model::RankTimeline& t, const model::RankAnalysis& a,
                           const std::vector<StepRange>& ranges) {
  StepGraph graph;
  graph.syncs.emplace_back();
  graph.paths.emplace_back();
  graph.unavailable = why_unavailable(t, a);
  if (!graph.unavailable.empty()) return graph;
  HostStates states(t, a);
  graph::Dictionaries dictionaries(graph, t.names.size());
  for (const StepRange& range : ranges) {
    graph::Chunk chunk{t, a, states, dictionaries, graph, range, 0, {}, 0, {}, {}};
    chunk.start = a.steps.steps[range.first].span.start;
    for (Index i = range.first; i < range.first + range.count; ++i) {
      chunk.step_host_end.push_back(host_end_of(a, i));
    }
    add_chunk(chunk);
  }
  graph.available = !graph.activities.empty() || host_alone(t);
  if (!graph.available) graph.unavailable = "no launches within the steps";
  return graph;
}

}  // namespace pyrometer::analysis
