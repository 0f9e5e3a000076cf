// Repeated sequences of consecutive small kernels.
#pragma once

#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Sequences of at least three small kernels that follow each other on a stream, within one step,
// and that occur at least twice; by the time they span, descending. Where there are steps, kernels
// launched outside them do not count. A kernel is small when the
// median of its name is below kShortKernelNs, so that a single slow run does not break a sequence.
// Short cycles that repeat back to back at least three times are counted by themselves
// (RepeatedSequence::back_to_back); what lies between them forms the other sequences. O(kernels).
[[nodiscard]] std::vector<model::RepeatedSequence> repeated_sequences(
    const model::RankTimeline& timeline, const model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
