// Keeps the cost of GPU capture within its budget, and measures that cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"
#include "model/types.h"

namespace pyrometer::monitor {

// Capture is switched off and on again in turns; the step times of neighbouring turns are compared,
// so that a machine that grows slower or faster changes both alike. The ratio's mean over pairs,
// with its 95% interval by Student's t, is the measured overhead of a watched step; times the share
// of watched steps it is that of the run. One per process; times in ns.
class DutyCycle {
 public:
  // budget: of the run's time, e.g. 0.005. 0 or less: always on, nothing is measured. `measure`:
  // half the time on and half off all run long, whatever it costs, to learn what it costs.
  explicit DutyCycle(double budget, bool measure = false);

  // A step, after warm-up. `watched`: with capture on from start to end; `mixed`: capture was
  // switched within it. Times without steps are not compared.
  void add_step(model::Interval span, bool watched, bool mixed);
  // Whether capture shall be on now.
  [[nodiscard]] bool want_on(model::TimeNs now);
  [[nodiscard]] model::OverheadEstimate estimate() const;

 private:
  struct Turn {
    bool on = true;
    std::vector<double> steps;  // ns
  };
  void close_turn();
  [[nodiscard]] model::DurationNs turn_length() const;
  [[nodiscard]] bool enough(const Turn& turn) const;

  double budget_;
  bool measure_;
  Turn turn_;
  double last_mean_ = 0;  // of the turn before; 0: none to compare with
  bool last_on_ = true;
  std::vector<double> ratios_;  // log(on / off) of neighbouring turns
  model::TimeNs first_step_ = 0;
  model::TimeNs turn_start_ = 0;
  std::int64_t settled_ = 0;  // steps passed over since the last switch
  double on_share_ = 0.5;     // of the time, after the first comparisons
  bool on_ = true;
  double typical_step_ = 0;
  double time_on_ = 0, time_off_ = 0;
};

}  // namespace pyrometer::monitor
