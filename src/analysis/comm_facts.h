// Facts about communication, of one rank and of the job.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// From the rank's own CommTable.
void set_comm_facts(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

// Over all ranks: shares by device time, counts as the mean over the ranks that have them. Bus
// bandwidth from the last arrival on, where every rank of the group was matched.
void set_job_comm_facts(const model::Timeline& timeline, model::JobAnalysis& job);

}  // namespace pyrometer::analysis
