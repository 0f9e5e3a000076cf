// Results about communication, within one rank and across ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/kernels.h"
#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::model {

enum class Collective : std::uint8_t {
  kUnknown,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSendRecv,  // a kernel that sends and receives; what for is not known
  kSend,
  kRecv,
  kBarrier,
};

struct CommRow {           // by collective × process group
  std::string collective;  // "all_reduce", "all_gather", …, "unknown"
  std::string group;       // process group name, "" when not given
  std::int32_t group_size = -1;
  DurationStats stats;
  std::int64_t bytes = -1;  // summed message bytes, -1: not given
  double per_step = 0;      // of the calls that the steps issued
  DurationNs exposed = 0;   // no compute kernel running
  DurationNs overlapped = 0;
  DurationNs skew = 0;  // of the exposed part, waiting for a later rank; 0 when unknown
};

// Ranks that communicate with each other. What the trace does not say is taken from other kernels
// on the same stream, since NCCL gives every communicator a stream of its own.
struct CommGroup {
  // Equal on every rank that takes part: name and ranks, or the kernel's own collective where the
  // trace tells no group.
  std::string key;
  std::string name;  // "" when not given
  bool known = false;
  std::int32_t size = -1;
};

// One communication kernel, in the order of activities.
struct CommCall {
  Index activity = 0;
  Index row = 0;    // of CommTable::rows; kNone: outside the window
  Index group = 0;  // of CommTable::groups
  Collective collective = Collective::kUnknown;
  std::int64_t bytes = -1;        // message bytes, -1: not given
  std::int64_t sequence = -1;     // per process group, -1: not given
  std::int64_t step_number = -1;  // of the ProfilerStep it was launched in, -1: not known
  // Issued by a step of the window: counts in figures per step. Early kernels of a trace were often
  // launched before it begins.
  bool of_steps = false;
};

struct CommTable {
  std::vector<CommRow> rows;  // by total time, descending
  std::vector<CommGroup> groups;
  std::vector<CommCall> calls;  // the whole trace, not only the window
  DurationNs total = 0;         // union over streams
  DurationNs exposed = 0;
  double overlap = -1;  // (comm ∩ compute) / comm as unions; -1: no communication
  // By row of activities: when the last rank arrived at this collective, on this rank's own clock;
  // kUnknownArrival for everything that was not matched. Empty: nothing was matched. Written by the
  // pass `comm_match`; the waterfall splits exposed communication there.
  std::vector<TimeNs> last_arrival;
};

inline constexpr TimeNs kUnknownArrival = std::numeric_limits<TimeNs>::min();

// Turns a rank's own clock into the reference clock.
struct ClockMap {
  TimeNs origin = 0;      // own clock: where `offset` holds
  DurationNs offset = 0;  // reference − own, at the origin
  double drift = 0;       // change of the offset per ns of own time; 0 unless significant
  bool known = false;     // false: nothing was matched with the reference, directly or over others
  [[nodiscard]] TimeNs to_reference(TimeNs own) const {
    return own + offset + static_cast<TimeNs>(drift * static_cast<double>(own - origin));
  }
  [[nodiscard]] TimeNs from_reference(TimeNs reference) const {
    const TimeNs own = reference - offset;  // but for the drift
    return own - static_cast<TimeNs>(drift / (1 + drift) * static_cast<double>(own - origin));
  }
};

// One collective, matched across ranks.
struct CollectiveMatch {
  std::vector<Index> activity;  // by position in Timeline::ranks; kNone: not seen there
  TimeNs last_arrival = 0;      // on the reference clock (that of ranks[0])
  Index last_rank = kNone;      // position of the rank that arrived last
  bool complete = false;        // every rank of the group is there; else a later one may be missing
  Collective collective = Collective::kUnknown;
  std::int64_t bytes = -1;       // message bytes, -1: not given
  std::int32_t group_size = -1;  // -1: not given
};

struct RankBalanceRow {
  std::int32_t rank = 0;
  double step_mean_ns = 0;
  double compute_ns = 0;       // per step, union
  double idle_ns = 0;          // per step
  double exposed_comm_ns = 0;  // per step
  double waiting_ns = 0;       // per step: comm.skew
  double late_share = 0;       // of matched collectives, this rank arrived last
  double caused_wait_ns = 0;   // per step: what the others waited for this rank, summed over them
  // What the rank needs for itself, per step, whether or not it was hidden behind waiting for
  // others: docs/concepts/communication.md.
  double own_compute_ns = 0;  // union of compute kernels
  double own_copy_ns = 0;     // copies outside compute
  double own_input_ns = 0;    // device starved by the data loader
  double own_host_ns = 0;  // device starved by the host otherwise, its waits for the device apart
};

struct CrossRank {
  bool matched = false;  // collectives of ≥ 2 ranks were matched
  std::string how;       // by sequence number or by order, and how many
  // By rank position: add to its times to get the reference clock (at the origin of `clock`).
  std::vector<DurationNs> clock_offset;
  std::vector<ClockMap> clock;  // by rank position; the same with drift
  double clock_spread_ns = 0;   // remaining spread of collective ends: the alignment's uncertainty
  std::vector<CollectiveMatch> matches;
  std::vector<RankBalanceRow> balance;
  Index slow_rank = kNone;  // position, kNone: balanced or unknown
  std::string slow_cause;   // "input", "host", "compute", "copy", "" unknown
  double imbalance = 0;     // (max − min) / mean of per-step time not spent waiting
};

}  // namespace pyrometer::model
