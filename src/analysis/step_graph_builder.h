// Internal to the step graph: what its stages share while one chunk is being built.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analysis/host_state.h"
#include "analysis/step_graph.h"

namespace pyrometer::analysis::graph {

// Distinct names, streams, syncs and paths get small ids, one table for all chunks of a rank.
class Dictionaries {
 public:
  Dictionaries(StepGraph& graph, std::size_t names) : graph_(graph), names_(names, kUnseen) {}
  [[nodiscard]] std::uint16_t name(model::NameId id);
  [[nodiscard]] std::uint16_t stream(model::DeviceId device, std::int32_t stream);
  [[nodiscard]] std::uint16_t sync(const GraphSync& sync);
  // Of the path that `name` makes below `parent`.
  [[nodiscard]] std::uint16_t path(std::uint16_t parent, model::NameId name);

 private:
  static constexpr std::uint16_t kUnseen = 0xFFFF;
  StepGraph& graph_;
  std::vector<std::uint16_t> names_;  // by NameId
  std::map<std::array<model::NameId, 3>, std::uint16_t> syncs_;
  std::map<std::pair<std::uint16_t, model::NameId>, std::uint16_t> paths_;
};

// When an item really happened. The host is one chain: calls of all threads that feed the device,
// in order. Where calls of two threads overlap, the later one only counts from the end of the
// earlier.
struct ItemTimes {
  model::TimeNs before = 0;  // end of the previous item
  model::TimeNs start = 0;   // of the call, at or after `before` unless calls overlap
  model::TimeNs end = 0;     // of the call, at or after `before`
  model::ThreadId thread = 0;
  [[nodiscard]] model::TimeNs entry() const { return start > before ? start : before; }
};

struct Chunk {
  const model::RankTimeline& timeline;
  const model::RankAnalysis& analysis;
  HostStates& states;
  Dictionaries& dictionaries;
  StepGraph& graph;
  StepRange range;
  model::TimeNs start = 0;                   // of the first step
  std::vector<model::TimeNs> step_host_end;  // by step of the range, on the host
  // By item of the chunk (graph.items from `first_item` on).
  model::Index first_item = 0;
  std::vector<ItemTimes> times;
  // Threads that launch work in the chunk, the main thread among them.
  std::vector<model::ThreadId> threads;

  [[nodiscard]] GraphItem& item(std::size_t i) { return graph.items[first_item + i]; }
  [[nodiscard]] const GraphItem& item(std::size_t i) const { return graph.items[first_item + i]; }
  [[nodiscard]] std::size_t size() const { return times.size(); }
};

// Stages, in order. Each needs the ones before it.
void collect_items(Chunk& chunk);  // items, their times, their activities; step_graph_items.cpp
void measure_host(Chunk& chunk);   // host time between items; step_graph_host.cpp
void name_paths(Chunk& chunk);     // annotations around items; step_graph_host.cpp
void connect(Chunk& chunk);        // stream order, latencies, waits; step_graph_device.cpp
void summarize_delays(const StepGraph& graph, GraphChunk& chunk);  // step_graph_delays.cpp
void attribute_profiler_time(Chunk& chunk);                        // step_graph_host.cpp
void name_syncs(Chunk& chunk);  // how waits were reached, what feeds them; step_graph_syncs.cpp

// Row of the outermost operator around a call, kNone when there is none.
[[nodiscard]] model::Index outermost_op(const model::RankTimeline& timeline, model::Index call);

// First row in [range.begin, range.end) whose start is at or after `time`.
[[nodiscard]] model::Index first_from(const std::vector<model::TimeNs>& starts,
                                      model::RowRange range, model::TimeNs time);

}  // namespace pyrometer::analysis::graph
