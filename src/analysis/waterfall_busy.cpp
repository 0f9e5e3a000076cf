#include "analysis/waterfall_busy.h"

#include <algorithm>
#include <limits>

#include "analysis/waterfall.h"

namespace pyrometer::analysis {
namespace {

using model::ActivityKind;
using model::Cause;
using model::Index;
using model::KernelClass;
using model::TimeNs;
using Layer = std::vector<Labelled<Cause>>;

Cause cause_of_copy(const model::ActivityTable& a, Index i) {
  switch (a.copy[i]) {
    case model::CopyKind::kH2D:
      return Cause::kCopyH2d;
    case model::CopyKind::kD2H:
      return Cause::kCopyD2h;
    case model::CopyKind::kP2P:
      return Cause::kCopyP2p;
    default:
      return Cause::kCopyD2d;
  }
}

// A layer in which the earliest-started running activity names each moment. Rows must come in
// canonical order (by start). Dead rows are passed once, so the whole is linear.
class OwnerSweep {
 public:
  OwnerSweep(const model::ActivityTable& activities, std::vector<Index> rows)
      : a_(activities), rows_(std::move(rows)) {}

  // Calls emit(row, start, end) for disjoint spans by time.
  template <typename Emit>
  void run(Emit emit) {
    std::size_t owner = 0;
    TimeNs now = std::numeric_limits<TimeNs>::min();
    while (owner < rows_.size()) {
      const Index row = rows_[owner];
      if (a_.end[row] <= now) {
        ++owner;
        continue;
      }
      now = std::max(now, a_.start[row]);
      emit(row, now, a_.end[row]);
      now = a_.end[row];
      ++owner;
    }
  }

 private:
  const model::ActivityTable& a_;
  std::vector<Index> rows_;
};

// Exposed waiting before the last arrival is skew, the rest transfer.
void add_comm(Layer& layer, TimeNs start, TimeNs end, TimeNs last_arrival) {
  const TimeNs split = std::clamp(last_arrival, start, end);
  if (split > start) layer.push_back({start, split, Cause::kCommSkew});
  if (end > split) layer.push_back({split, end, Cause::kCommTransfer});
}

}  // namespace

std::vector<Labelled<Cause>> busy_segments(const model::RankTimeline& t,
                                           const model::RankAnalysis& a,
                                           const model::Device& device) {
  const model::ActivityTable& act = t.activities;
  std::vector<Index> compute;
  std::vector<Index> comm;
  std::vector<Index> copies;
  for (Index i = device.activities.begin; i < device.activities.end; ++i) {
    if (act.end[i] <= act.start[i]) continue;
    if (act.kind[i] != ActivityKind::kKernel) {
      copies.push_back(i);
    } else if (a.kernel_traits[act.name[i]].klass == KernelClass::kComm) {
      comm.push_back(i);
    } else {
      compute.push_back(i);
    }
  }
  Layer layers[3];
  OwnerSweep(act, std::move(compute)).run([&](Index row, TimeNs start, TimeNs end) {
    layers[0].push_back({start, end, cause_of_kernel(a.kernel_traits[act.name[row]])});
  });
  OwnerSweep(act, std::move(comm)).run([&](Index row, TimeNs start, TimeNs end) {
    const TimeNs arrival =
        a.comm.last_arrival.empty() ? model::kUnknownArrival : a.comm.last_arrival[row];
    add_comm(layers[1], start, end, arrival);
  });
  OwnerSweep(act, std::move(copies)).run([&](Index row, TimeNs start, TimeNs end) {
    layers[2].push_back({start, end, cause_of_copy(act, row)});
  });
  return flatten<Cause>({&layers[0], &layers[1], &layers[2]});
}

}  // namespace pyrometer::analysis
