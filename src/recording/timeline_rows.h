// Recorded rows as a Timeline: the same that an imported trace becomes.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/timeline.h"
#include "recording/names.h"
#include "recording/rows.h"
#include "recording/time_map.h"

namespace pyrometer::recording {

struct TimelineInput {
  const DetailRows& rows;
  const NameTable& names;
  const std::unordered_map<std::uint32_t, ConfigRow>& configs;
  const ProcessRow& process;
  const std::vector<DeviceRow>& devices;
  std::int64_t prefetch = 2;  // batches that a loader's worker has in hand at most; PyTorch's 2
};

// Times are mapped, rows that lie outside every window dropped; a call outside stays where what it
// launched is kept, at the seam. Hook ranges become the annotations that a profiler would have
// written (ProfilerStep#N, enumerate(DataLoader)#…, Optimizer.step#…), so that passes need not know
// where a timeline comes from. `info` is left for the caller, apart from what rows tell.
[[nodiscard]] model::RankTimeline make_timeline(const TimelineInput& input, const TimeMap& map);

}  // namespace pyrometer::recording
