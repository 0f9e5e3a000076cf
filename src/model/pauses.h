// What the host side tells about waiting for input and about pauses, explicit or inferred.
#pragma once

#include <string>
#include <vector>

#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::model {

enum class LoaderKind : std::uint8_t {
  kNoLoader,       // no loader range in the trace
  kSingleProcess,  // loads in the training thread
  kMultiProcess,   // worker processes
  kUnknown,        // a range of the user's own
};

// Host time in loader ranges of the main thread, in the window.
struct InputWaits {
  LoaderKind kind = LoaderKind::kNoLoader;
  std::int64_t waits = 0;
  DurationNs total = 0;
  DurationNs p50 = 0, max = 0;
  DurationNs in_validation = 0;  // waits for the loader of a validation; in none of the others
  // Iterators begun in the window: time from the end of the last wait of the old one to the first
  // batch of the new one, beyond an ordinary wait.
  std::int64_t iterator_starts = 0;
  DurationNs iterator_start_time = 0;
  std::int64_t operators = 0;  // operators run inside the waits
  // Recordings: waits that began when the next batch was there already; by time.
  std::vector<Interval> ready;
};

// A stretch of host time whose cause the trace does not name, but its pattern does. The waterfall
// stays with what was recorded; rules and the replay model use these.
struct InferredRegion {
  Interval span;
  Cause cause = Cause::kIdleCheckpoint;  // one of the idle causes with a host region
  std::int64_t copies = 0;               // device-to-host copies inside
  std::int64_t bytes = 0;                // of these; 0 when not given
  CauseTimes causes{};                   // what the waterfall says of it, over all devices
};

struct Pauses {
  InputWaits input;
  std::vector<InferredRegion> inferred;  // by time, disjoint
};

}  // namespace pyrometer::model
