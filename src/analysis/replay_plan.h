// Internal to the replay: an edit worked out for one graph, so that the replay itself only
// multiplies.
#pragma once

#include <vector>

#include "analysis/replay.h"

namespace pyrometer::analysis {

struct ReplayPlan {
  ReplayPlan(const ReplayRank& rank, const Edit& edit);

  const Edit& edit;
  bool graph_launch;
  std::vector<float> name_time, name_host;    // by StepGraph::names
  std::vector<float> path_host, path_device;  // by StepGraph::paths
  std::vector<char> name_grows;               // whether a larger batch makes the kernel longer
  std::vector<char> path_optimizer;           // within Optimizer.step
  std::vector<char> sync_removed;             // by StepGraph::syncs
  std::array<float, 7> region{};              // by HostRegion
  std::array<float, 5> role{};                // by ActivityRole: device time
  std::vector<float> step_input;              // by step: factor on the loader's wait; empty: 1

  [[nodiscard]] bool waits(const GraphItem& item) const;
  // Host time since the previous item and inside the call before it waits, ns.
  struct HostTime {
    float gap = 0;  // loader's wait left out
    float input = 0;
    float own = 0;
    float real = 1;  // what is left of host time once the profiler's share is taken out
  };
  [[nodiscard]] HostTime host_time(const StepGraph& graph, const GraphItem& item,
                                   ProfilerLevel level) const;
  // Factor on the device time of the item's activities; 0: they are gone.
  [[nodiscard]] float device_factor(const GraphItem& item) const;
  [[nodiscard]] float duration(const GraphItem& item, const GraphActivity& activity,
                               float item_factor, CommMode comm) const;
};

}  // namespace pyrometer::analysis
