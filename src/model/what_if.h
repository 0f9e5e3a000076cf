// The profiler's own cost, and the replay model's inputs and outputs.
#pragma once

#include <string>

#include "model/types.h"

namespace pyrometer::model {

// What the profiler adds to host time. Source: docs/concepts/dilation.md.
struct Dilation {
  bool available = false;
  std::string unavailable;  // why not
  // Taken out of host time per operator, runtime API call and Python call (with_stack only), ns.
  // low and high bound the uncertainty.
  double per_op_ns = 0, per_op_low_ns = 0, per_op_high_ns = 0;
  double per_call_ns = 0, per_call_low_ns = 0, per_call_high_ns = 0;
  double per_python_call_ns = 0, per_python_call_low_ns = 0, per_python_call_high_ns = 0;
  // On the threads that feed the device.
  double ops_per_step = 0, calls_per_step = 0, python_calls_per_step = 0;
  double host_speed = 1;  // time of trivial operators against the reference host's; 2: twice as slow
  std::string basis;      // why these figures: "record_shapes on (trace metadata)", …
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
  std::int64_t steps = 0;   // replayed; fewer than the trace has when it is long
};

}  // namespace pyrometer::model
