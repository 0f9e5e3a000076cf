// Finds which calls of two ranks on one communicator are the same collective.
#pragma once

#include <utility>
#include <vector>

#include "model/comm.h"
#include "model/types.h"

namespace pyrometer::analysis {

// One collective as one rank saw it, on that rank's clock.
struct CommEvent {
  model::TimeNs start = 0;
  model::TimeNs end = 0;
  model::Collective collective = model::Collective::kUnknown;
  std::int64_t bytes = -1;     // -1: not given
  std::int64_t sequence = -1;  // -1: not given
  std::int64_t step = -1;      // number of the step it was launched in, -1: not known
};

// The collectives of one rank on one communicator, by end. All ranks of a communicator run the
// same collectives in the same order; a trace shows a part of them, sometimes with holes.
using CommSequence = std::vector<CommEvent>;

struct SequenceMatch {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // (in a, in b), ascending in both
  bool by_sequence_number = false;
  model::ClockMap clock;  // from b's clock to a's; known only when there are pairs
};

// Could these be the same collective, by what is known of both? Times do not matter.
[[nodiscard]] bool compatible(const CommEvent& a, const CommEvent& b);

// Matches by sequence number where both sides have them. Otherwise by time: looks for the shift of
// b's clock under which the most compatible collectives end together. Shifts tried: `guesses`, and
// those under which a short run of b fits somewhere in a, the best fitting first. Step numbers,
// where known on both sides, must agree, so that a periodic run cannot match a step too early.
[[nodiscard]] SequenceMatch match_sequences(const CommSequence& a, const CommSequence& b,
                                            const std::vector<model::DurationNs>& guesses);

}  // namespace pyrometer::analysis
