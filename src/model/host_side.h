// Results of the passes about the host: operators, launches, blocking calls.
#pragma once

#include <vector>

#include "model/activity_class.h"
#include "model/kernels.h"
#include "model/types.h"

namespace pyrometer::model {

// Operators and annotations (step markers left out) that start in the window, by name; durations
// are whole. Self: not within another row nested in it, so that the selfs of all rows add up.
// Totals count a range once that lies within another of the same name. What other threads launch
// while the main thread is in an annotation (autograd's, mostly) belongs to the annotation's total.
struct OpRow {
  NameId name = 0;
  bool is_annotation = false;
  std::int64_t count = 0;
  DurationNs host_total = 0;  // summed host duration, nested included
  DurationNs host_self = 0;
  DurationNs device_total = 0;  // device time launched within, nested included
  DurationNs device_self = 0;
  std::int64_t kernels = 0;  // activities launched within
};

// One device; only launches whose activity was seen.
struct LaunchStats {
  std::int64_t launches = 0;
  double per_step = 0;
  DurationNs latency_p50 = 0;  // launch call start → activity start, when the queue was empty
  DurationNs latency_p95 = 0;
  std::int64_t empty_queue_launches = 0;  // activities behind the two figures above
  DurationNs queue_delay_p50 = 0;         // launch call start → activity start, all launches
  double queue_empty_share = 0;           // of the window: nothing queued and nothing running
  double queue_length_mean = 0;           // time-weighted: launched, not finished
  std::int64_t queue_length_max = 0;
  double short_kernel_share = 0;    // kernels under 10 µs, of all kernels, by count
  std::vector<double> queue_curve;  // mean queue length in equal slices of the window (≤ 200)
};

// Blocking calls of one kind: same API call, reached in the same way.
struct SyncRow {
  NameId api = 0;
  NameId op = 0;          // outermost operator around it, 0: none
  NameId leaf_op = 0;     // innermost, e.g. aten::_local_scalar_dense
  NameId annotation = 0;  // innermost annotation around it but step markers, 0: none
  NameId python = 0;      // innermost Python frame of the user's code, 0: not recorded
  ApiClass klass = ApiClass::kStreamSync;
  std::int64_t count = 0;  // in the window
  double per_step = 0;
  DurationNs blocked = 0;       // host time inside
  DurationNs waiting_busy = 0;  // of which the device was working: useful work waited for
  DurationNs waiting_idle = 0;  // of which the device was already idle
  // Device idle time from the end of the call to the next activity or the next blocking call,
  // whatever the host did in it.
  DurationNs drained_after = 0;
  // Median of that, times the number of calls: without the few long pauses that happen to follow a
  // wait, like writing a checkpoint.
  DurationNs drained_typical = 0;
};

struct HostSide {
  std::vector<OpRow> ops;           // by device_total, descending
  std::vector<LaunchStats> launch;  // by device
  std::vector<SyncRow> syncs;       // by drained_after + waiting_idle, descending
};

}  // namespace pyrometer::model
