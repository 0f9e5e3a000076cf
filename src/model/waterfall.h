// Result of the waterfall pass: every nanosecond of every device has exactly one cause.
// Definitions: docs/concepts/waterfall.md.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/generated/causes.h"  // enum class Cause, kCauseCount, cause_info()
#include "model/types.h"

namespace pyrometer::model {

using CauseTimes = std::array<DurationNs, kCauseCount>;  // ns by Cause

[[nodiscard]] inline DurationNs& at(CauseTimes& times, Cause cause) {
  return times[static_cast<std::size_t>(cause)];
}
[[nodiscard]] inline DurationNs at(const CauseTimes& times, Cause cause) {
  return times[static_cast<std::size_t>(cause)];
}
[[nodiscard]] inline DurationNs total(const CauseTimes& times) {
  DurationNs sum = 0;
  for (const DurationNs t : times) sum += t;
  return sum;
}

// Why time is unattributed, ns by reason; they sum to Cause::kUnattributed.
struct UnattributedReason {
  std::string reason;  // e.g. "no host events were recorded"
  DurationNs time = 0;
};

// A maximal interval in which nothing ran on a device, clipped to the window.
struct Gap {
  Interval span;
  TimeNs busy_end = 0;   // end of the busy interval before it; INT64_MIN when there was none
  Index next = kNone;    // activity that ended it; kNone: nothing after it
  Index launch = kNone;  // api call that launched `next`
  CauseTimes causes{};   // sum to span.length()
};

struct DeviceWaterfall {
  DeviceId device = 0;
  Interval window;
  CauseTimes causes{};            // sum to window.length(), exactly
  std::vector<CauseTimes> steps;  // by step of RankAnalysis::steps; each sums to its span
  std::vector<UnattributedReason> unattributed;
  std::vector<Gap> gaps;  // by time
  [[nodiscard]] DurationNs busy() const;
  [[nodiscard]] DurationNs idle() const { return window.length() - busy(); }
};

// "idle" group plus unattributed counts as not busy.
[[nodiscard]] DurationNs busy_time(const CauseTimes& causes);

struct RankWaterfall {
  std::vector<DeviceWaterfall> devices;
  CauseTimes causes{};      // summed over devices
  bool skew_known = false;  // false: one rank alone, all communication is comm.transfer
};

}  // namespace pyrometer::model
