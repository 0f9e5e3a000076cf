// Typical delays of a chunk.
#include <algorithm>

#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis::graph {
namespace {

float median(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void summarize_delays(const StepGraph& graph, GraphChunk& chunk) {
  std::array<std::vector<float>, 5> latencies;
  std::vector<float> gaps;
  std::vector<float> deps;
  std::vector<float> sync;
  std::vector<float> copy;
  std::vector<float> queue;
  std::vector<float> alloc;
  for (model::Index i = chunk.first_item; i < chunk.first_item + chunk.item_count; ++i) {
    const GraphItem& item = graph.items[i];
    for (model::Index k = item.first_activity; k < item.first_activity + item.activity_count; ++k) {
      const GraphActivity& activity = graph.activities[k];
      if (k == item.first_activity) {
        latencies[static_cast<std::size_t>(activity.role)].push_back(activity.latency);
      }
      gaps.push_back(activity.gap);
      if (activity.dep != model::kNone) deps.push_back(activity.dep_delay);
    }
    if (item.wait == WaitFor::kNothing) continue;
    if (item.kind == ItemKind::kAlloc) {
      alloc.push_back(item.tail);
    } else if (item.queue_full) {
      queue.push_back(item.tail);
    } else {
      (item.is_copy_wait ? copy : sync).push_back(item.tail);
    }
  }
  GraphDelays& delays = chunk.delays;
  for (std::size_t r = 0; r < latencies.size(); ++r) delays.latency[r] = median(latencies[r]);
  delays.gap = median(gaps);
  delays.dep_delay = median(deps);
  delays.sync_tail = median(sync);
  delays.copy_tail = median(copy);
  delays.queue_tail = median(queue);
  delays.alloc_tail = median(alloc);
}

}  // namespace pyrometer::analysis::graph
