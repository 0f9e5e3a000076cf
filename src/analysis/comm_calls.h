// Lists the communication kernels of a rank with what the trace tells about each.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

[[nodiscard]] inline bool is_comm_kernel(const model::RankTimeline& t, const model::RankAnalysis& a,
                                         model::Index activity) {
  return t.activities.kind[activity] == model::ActivityKind::kKernel &&
         a.kernel_traits[t.activities.name[activity]].klass == model::KernelClass::kComm;
}

// Fills calls and groups of `table`; rows of calls stay unset.
//
// Collective: the profiler's argument; else the kernel's name; else, for generic kernels, the c10d
// operator or nccl: annotation around the launch. Group: the profiler's arguments; else the only
// group seen on the same stream of the same device; else unknown, one group per kernel's own
// collective. Bytes: the larger of input and output elements times the width of the dtype.
void list_calls(const model::RankTimeline& timeline, const model::RankAnalysis& analysis,
                model::CommTable& table);

}  // namespace pyrometer::analysis
