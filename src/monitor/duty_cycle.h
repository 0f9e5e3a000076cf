// Keeps the cost of GPU capture within its budget, and measures that cost.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/confidence.h"
#include "model/run.h"
#include "model/types.h"

namespace pyrometer::monitor {

// Capture is switched off and on again in turns. The mean step of a watched turn is compared with
// those of the unwatched turns before and after it, so that a machine that grows slower or faster
// changes both alike. The mean of these ratios, with its 95% interval by Student's t, is the
// measured overhead of a watched step; times the share of watched steps, and with what the steps
// around the switches took longer, it is that of the run. One per process; times in ns.
class DutyCycle {
 public:
  // budget: of the run's time, e.g. 0.005. 0 or less: always on, nothing is measured. `measure`:
  // half the time on and half off all run long, whatever it costs, to learn what it costs.
  explicit DutyCycle(double budget, bool measure = false);

  // A step, after warm-up, in time order, some seconds after its end. `watched`: with capture on
  // from start to end; `mixed`: capture was switched within it. Times without steps are not
  // compared.
  void add_step(model::Interval span, bool watched, bool mixed);
  // Whether capture shall be on now.
  [[nodiscard]] bool want_on(model::TimeNs now);
  [[nodiscard]] model::OverheadEstimate estimate() const;

 private:
  struct Turn {
    void add(double length);

    bool known = false;  // whether it is one with capture on: from its first whole step on
    bool on = true;
    model::TimeNs start = 0;
    std::vector<double> steps;  // ns; every `stride`-th
    std::size_t stride = 1, seen = 0;
    double settling_time = 0;  // ns, of the steps around the switch
    std::int64_t settling_steps = 0;
  };
  struct ClosedTurn {
    bool on;
    double log_mean;
  };
  void close_turn();
  void set_share();
  [[nodiscard]] double spent() const;
  [[nodiscard]] model::DurationNs turn_length() const;

  double budget_;
  bool measure_;
  // Of the steps, as they come.
  Turn turn_;
  std::deque<ClosedTurn> closed_;  // the last three, on and off in turns
  bool any_closed_ = false;
  std::deque<double> ratios_;  // log(on / off), the latest
  std::int64_t comparisons_ = 0;
  analysis::Middle middle_;  // of ratios_
  model::TimeNs first_step_ = 0;
  std::int64_t steps_ = 0;
  double typical_step_ = 0;
  double time_on_ = 0, time_off_ = 0;
  double switching_ = 0;  // ns that the steps around switches took longer
  // Of what is wanted now.
  model::TimeNs wanted_since_ = 0;
  bool on_ = true;
  double on_share_ = 0.5;  // of the time, after the first comparisons
};

}  // namespace pyrometer::monitor
