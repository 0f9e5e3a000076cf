// The profiler's own cost, and the replay model's inputs and outputs.
#pragma once

#include <string>

#include "model/types.h"

namespace pyrometer::model {

// What the profiler adds to host time. Source: docs/concepts/dilation.md.
struct Dilation {
  bool available = false;
  std::string unavailable;  // why not
  // The profiler slows the code around each event that it records: of the s ns from one host event
  // to the next on a thread, it took share · (s − event_floor_ns), but at most event_cap_ns; in the
  // loader's own work, which calls no device, at most input_event_cap_ns.
  double share = 0, share_low = 0, share_high = 0;
  double event_floor_ns = 0;
  double event_cap_ns = 0;
  double input_event_cap_ns = 0;
  // What that comes to per operator, on the threads that feed the device.
  double per_op_ns = 0, per_op_low_ns = 0, per_op_high_ns = 0;
  double ops_per_step = 0, calls_per_step = 0, python_calls_per_step = 0;
  double host_speed =
      1;              // time of trivial operators against the reference host's; 2: twice as slow
  std::string basis;  // why these figures: "record_shapes on (trace metadata)", …
};

// Replay of the measured steps, unchanged and without the profiler's cost.
struct ReplayBaseline {
  bool available = false;
  std::string unavailable;  // why not
  double measured_ns = 0;   // mean step in the trace
  // The same, replayed unchanged on typical delays: what the model explains without each call's own
  // unexplained delay. Predictions keep those delays.
  double replayed_ns = 0;
  double error = 0;         // |replayed − measured| / measured
  double corrected_ns = 0;  // mean step without the profiler
  double corrected_low_ns = 0, corrected_high_ns = 0;
  std::int64_t steps = 0;  // replayed; fewer than the trace has when it is long
};

}  // namespace pyrometer::model
