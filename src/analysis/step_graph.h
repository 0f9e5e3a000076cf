// The steps of one rank as a graph that can be replayed: host calls in issue order with the host
// time between them, and the device activities that they launch. Model: docs/concepts/replay.md.
//
// Everything that was measured and does not depend on the rest (durations, host time, latencies) is
// a parameter here; everything that depends (when the host is released from a wait, when an
// activity can start) is an edge and is worked out by the replay (replay.h).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Host time in explicit regions that one gap between calls contains, ns. Rare, so kept apart.
struct RegionTimes {
  float input = 0, checkpoint = 0, validation = 0, compile = 0, gc = 0, logging = 0;
  // > 0: a loader in other processes was the bottleneck here: it delivered one batch per this many
  // ns since the previous such wait, whatever the training process did.
  float input_period = 0;
  bool from_other_process = false;  // the loader's wait here ended with such a delivery
  [[nodiscard]] float total() const {
    return input + checkpoint + validation + compile + gc + logging;
  }
};

enum class HostRegion : std::uint8_t {
  kNone,
  kInput,
  kCheckpoint,
  kValidation,
  kCompile,
  kGc,
  kLogging
};

enum class ItemKind : std::uint8_t {
  kLaunch,   // launches activities; blocks as well when it waits
  kSync,     // waits only
  kAlloc,    // device memory allocation or free
  kStepEnd,  // the host has come to the end of a step
};

enum class WaitFor : std::uint8_t {
  kNothing,
  kActivity,  // until `awaited` ends
  kDevice,    // until everything launched so far ends
};

// One host call that matters to the device. All durations in ns.
struct GraphItem {
  ItemKind kind = ItemKind::kLaunch;
  WaitFor wait = WaitFor::kNothing;
  HostRegion region = HostRegion::kNone;  // that the call itself stands in
  bool queue_full = false;                // waits because the device's launch queue was full
  bool is_copy_wait = false;              // a copy that blocks
  bool is_blocking_launch = false;        // CUDA_LAUNCH_BLOCKING: waits for its own kernel
  bool bulk_copy = false;                 // the wait is for a copy of more than a single value
  bool from_host_copy = false;            // launches a host-to-device copy
  std::uint16_t path = 0;                 // of StepGraph::paths
  std::uint16_t sync = 0;                 // of StepGraph::syncs; 0: none
  std::uint16_t feeds = 0;                // sync that this item only feeds; 0: none
  model::Index call = model::kNone;       // row of api_calls; kNone for step ends
  model::Index first_activity = 0;        // of StepGraph::activities
  std::uint32_t activity_count = 0;
  model::Index awaited = model::kNone;  // of StepGraph::activities
  // Host time since the previous item ended.
  float ops = 0;                        // operators that launch, and API calls that are no items
  float cpu_ops = 0;                    // operators that launch nothing
  float comm_ops = 0;                   // operators that issue collectives
  float other = 0;                      // neither operator nor call nor region
  model::Index regions = model::kNone;  // of StepGraph::regions
  // Inside the call.
  float own = 0;   // before it can wait
  float tail = 0;  // from the end of what it waited for to its own end; may be negative
  // The profiler's share (0–1) of the time since the previous item and of `own`, at the low, middle
  // and high estimate of its cost.
  std::array<float, 3> profiler{};
};

enum class ActivityRole : std::uint8_t { kKernel, kH2D, kD2H, kOtherCopy, kComm };

// One device activity. All durations in ns.
struct GraphActivity {
  float duration = 0;
  float latency = 0;    // from the host's release (end of `own`) to the earliest start
  float gap = 0;        // after the previous activity on the stream; negative when they overlap
  float dep_delay = 0;  // after `dep` ends
  float transfer =
      0;  // collectives: of `duration`, after the last rank arrived (all when not known)
  model::Index dep = model::kNone;  // activity on another stream that it waits for
  model::Index row = model::kNone;  // of the timeline's activities
  std::uint16_t stream = 0;         // of StepGraph::streams
  std::uint16_t name = 0;           // of StepGraph::names
  ActivityRole role = ActivityRole::kKernel;
  float waves = -1;  // blocks / SMs; -1: not known
};

// Typical delays (medians) of a chunk, ns. A replay on these instead of each call's own shows how
// much of the step the edges explain by themselves.
struct GraphDelays {
  std::array<float, 5> latency{};  // by ActivityRole
  float gap = 0;
  float dep_delay = 0;
  float sync_tail = 0, copy_tail = 0, queue_tail = 0, alloc_tail = 0;
};

struct GraphStream {
  model::DeviceId device = 0;
  std::int32_t stream = 0;
};

// How a wait was reached, by which edits choose. All of the rank's names; 0: none.
struct GraphSync {
  model::NameId api = 0, leaf_op = 0, op = 0;
};

// Annotations around a launch, innermost last; names of the rank, step markers left out.
using GraphPath = std::vector<model::NameId>;

// Contiguous steps that are replayed together.
struct GraphChunk {
  model::Index first_item = 0, item_count = 0;
  model::Index first_step = 0, step_count = 0;  // of RankAnalysis::steps
  model::Index first_step_in_graph = 0;         // steps of the chunks before it
  model::TimeNs start = 0;                      // when the first step starts on the host
  std::vector<model::TimeNs> stream_busy;       // by stream: end of the work launched before
  GraphDelays delays;
  std::vector<model::TimeNs> step_end;  // by step: all work launched in it has ended
  // When all work from before the chunk has ended and the host has come to its start.
  [[nodiscard]] model::TimeNs work_start() const;
};

struct StepGraph {
  bool available = false;
  std::string unavailable;                // why not; completes "cannot be replayed: …"
  std::vector<GraphItem> items;           // in issue order
  std::vector<GraphActivity> activities;  // in order of items, then start
  std::vector<RegionTimes> regions;
  std::vector<GraphStream> streams;
  std::vector<model::NameId> names;  // distinct names of activities
  std::vector<GraphSync> syncs;      // [0]: none
  std::vector<GraphPath> paths;      // [0]: none
  std::vector<GraphChunk> chunks;
  [[nodiscard]] model::Index step_count() const;
  // Mean measured step over the chunks, ns: from the end of all work before to the end of all work.
  [[nodiscard]] double measured_step_ns() const;
};

// Steps to replay, as [first, first + count) ranges of step positions.
struct StepRange {
  model::Index first = 0, count = 0;
};

// All steps when they have at most `max_items` launches and waits in all, else contiguous ranges
// spread evenly. `items_per_step` counts over all ranks that are replayed together.
[[nodiscard]] std::vector<StepRange> choose_steps(const std::vector<std::uint32_t>& items_per_step,
                                                  std::uint32_t max_items);

// Calls of each step that would become items; empty when there are no steps.
[[nodiscard]] std::vector<std::uint32_t> count_items(const model::RankTimeline& timeline,
                                                     const model::RankAnalysis& analysis);

// Needs the passes classes, steps, dilation, input and pauses. O(n log n) in the events of the
// chosen steps.
[[nodiscard]] StepGraph build_step_graph(const model::RankTimeline& timeline,
                                         const model::RankAnalysis& analysis,
                                         const std::vector<StepRange>& ranges);

}  // namespace pyrometer::analysis
