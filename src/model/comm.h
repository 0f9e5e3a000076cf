// Results about communication, within one rank and across ranks.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "model/kernels.h"
#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::model {

struct CommRow {           // by collective × process group
  std::string collective;  // "all_reduce", "all_gather", …, "unknown"
  std::string group;       // process group name, "" when not given
  std::int32_t group_size = -1;
  DurationStats stats;
  std::int64_t bytes = -1;  // summed message bytes, -1: not given
  double per_step = 0;
  DurationNs exposed = 0;  // no compute kernel running
  DurationNs overlapped = 0;
  DurationNs skew = 0;  // of the exposed part, waiting for a later rank; 0 when unknown
};

struct CommTable {
  std::vector<CommRow> rows;
  DurationNs total = 0;  // union over streams
  DurationNs exposed = 0;
  double overlap = -1;  // (comm ∩ compute) / comm as unions; -1: no communication
  // By row of activities: when the last rank arrived at this collective, on this rank's own clock;
  // kUnknownArrival for everything that was not matched. Empty: nothing was matched. Written by the
  // pass `comm_match`; the waterfall splits exposed communication there.
  std::vector<TimeNs> last_arrival;
};

inline constexpr TimeNs kUnknownArrival = std::numeric_limits<TimeNs>::min();

// One collective, matched across ranks.
struct CollectiveMatch {
  std::vector<Index> activity;  // by position in Timeline::ranks; kNone: not seen there
  TimeNs last_arrival = 0;      // on the reference clock (that of ranks[0])
  Index last_rank = kNone;      // position of the rank that arrived last
};

struct RankBalanceRow {
  std::int32_t rank = 0;
  double step_mean_ns = 0;
  double compute_ns = 0;       // per step, union
  double idle_ns = 0;          // per step
  double exposed_comm_ns = 0;  // per step
  double waiting_ns = 0;       // per step: comm.skew
  double late_share = 0;       // of matched collectives, this rank arrived last
};

struct CrossRank {
  bool matched = false;  // collectives of ≥ 2 ranks were matched
  std::string how;       // by sequence number or by order, and how many
  std::vector<DurationNs>
      clock_offset;            // by rank position: add to its times to get the reference clock
  double clock_spread_ns = 0;  // remaining spread of collective ends: the alignment's uncertainty
  std::vector<CollectiveMatch> matches;
  std::vector<RankBalanceRow> balance;
  Index slow_rank = kNone;  // position, kNone: balanced or unknown
  std::string slow_cause;   // "input", "host", "compute", "launch", "" unknown
  double imbalance = 0;     // (max − min) / mean of per-step time not spent waiting
};

}  // namespace pyrometer::model
