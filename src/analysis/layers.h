// Layers of labelled intervals, flattened by precedence.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "model/types.h"

namespace pyrometer::analysis {

template <typename Label>
struct Labelled {
  model::TimeNs start = 0;
  model::TimeNs end = 0;
  Label label{};
};

// Flattens layers (each sorted and disjoint) into one sorted disjoint list: at each moment the
// first layer that covers it names the label. Adjacent equal labels stay apart only where a layer's
// own interval ended. Linear in the total number of intervals.
template <typename Label>
[[nodiscard]] std::vector<Labelled<Label>> flatten(
    const std::vector<const std::vector<Labelled<Label>>*>& layers) {
  constexpr model::TimeNs kNever = std::numeric_limits<model::TimeNs>::max();
  std::vector<Labelled<Label>> out;
  std::vector<std::size_t> at(layers.size(), 0);
  model::TimeNs now = std::numeric_limits<model::TimeNs>::min();
  for (;;) {
    // The highest layer that covers `now`, and the next moment at which that may change.
    const Labelled<Label>* owner = nullptr;
    model::TimeNs until = kNever;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& layer = *layers[i];
      while (at[i] < layer.size() && layer[at[i]].end <= now) ++at[i];
      if (at[i] == layer.size()) continue;
      const Labelled<Label>& next = layer[at[i]];
      if (next.start > now) {
        until = std::min(until, next.start);
      } else {
        owner = &next;
        until = std::min(until, next.end);
        break;  // lower layers do not matter before this one ends or a higher one begins
      }
    }
    if (until == kNever) return out;
    if (owner != nullptr) out.push_back({now, until, owner->label});
    now = until;
  }
}

}  // namespace pyrometer::analysis
