// Which GPUs a rank is billed for.
#pragma once

#include <cstdint>
#include <set>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::cost {

// The ordinals of the devices that it was seen to run on, in the analysed window or in any step of
// the run.
[[nodiscard]] inline std::set<std::int32_t> used_gpus(const model::RankTimeline& timeline,
                                                      const model::RankAnalysis& analysis) {
  std::set<std::int32_t> used;
  for (const model::DeviceWaterfall& device : analysis.waterfall.devices) {
    if (device.window.length() > 0) used.insert(timeline.devices[device.device].ordinal);
  }
  if (timeline.run == nullptr) return used;
  for (const model::RecordedStep& step : timeline.run->steps) {
    if (step.device >= 0) used.insert(step.device);
  }
  return used;
}

}  // namespace pyrometer::cost
