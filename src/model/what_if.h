// The profiler's own cost, and the replay model's inputs and outputs.
#pragma once

#include <string>

#include "model/types.h"

namespace pyrometer::model {

// What the profiler adds to host time. Source: docs/concepts/dilation.md.
struct Dilation {
  double per_op_ns = 0;      // taken out of host time per operator
  double per_op_low_ns = 0;  // uncertainty
  double per_op_high_ns = 0;
  double per_python_call_ns = 0;  // with_stack only
  double ops_per_step = 0;
  std::string basis;  // why this figure: "record_shapes on", …
};

// Replay of the measured steps, unchanged and without the profiler's cost.
struct ReplayBaseline {
  bool available = false;
  std::string unavailable;  // why not
  double measured_ns = 0;   // mean step in the trace
  double replayed_ns = 0;   // same, replayed unchanged
  double error = 0;         // |replayed − measured| / measured
  double corrected_ns = 0;  // mean step without the profiler
  double corrected_low_ns = 0, corrected_high_ns = 0;
};

}  // namespace pyrometer::model
