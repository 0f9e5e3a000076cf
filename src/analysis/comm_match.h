// Finds the same collective on several ranks: who waited for whom.
#pragma once

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Job pass. Fills matches and clocks of JobAnalysis::cross, and per rank CommTable::last_arrival
// and the skew of its rows. Needs `comm` on every rank and two ranks; with one it says why it has
// nothing. Sets the job-level facts of communication. Definitions: docs/concepts/communication.md.
void match_collectives(const model::Timeline& timeline, model::JobAnalysis& job);

}  // namespace pyrometer::analysis
