// Pass `host_created`: tensors made on the host only to be copied to the device.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Sets the copies.host_created_* facts. The pattern is `torch.randn(...).cuda()`: a top-level
// operator that fills a tensor and launches nothing, then (views aside) one that copies a tensor of
// that shape from host to device. Where shapes were not recorded, being direct neighbours must do.
// Needs `steps`.
void find_host_created(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
