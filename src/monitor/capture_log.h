// When the GPU of one process was watched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/types.h"
#include "ring/layout.h"

namespace pyrometer::monitor {

// Switches as they were reported, in time order.
class CaptureLog {
 public:
  void add(model::TimeNs time, bool on, ring::CaptureReason reason);

  // While the hook names blocking calls, what it wraps takes longer: nothing that is measured then
  // stands for the program. From `start` on, until the end is known.
  void disturb(model::TimeNs start);
  void disturb_until(model::TimeNs end);
  // Over already, as was told afterwards.
  void disturb(model::Interval span);

  // Watched from start to end of the span and not disturbed, as far as reported by now.
  [[nodiscard]] bool covers(model::Interval span) const;
  // Switched or disturbed within the span.
  [[nodiscard]] bool changes_in(model::Interval span) const;
  [[nodiscard]] bool ever_on() const { return ever_on_; }
  [[nodiscard]] bool on() const { return !switches_.empty() && switches_.back().on; }
  // Forgets what ended before `time`.
  void forget(model::TimeNs time);

 private:
  struct Switch {
    model::TimeNs time;
    bool on;
  };
  [[nodiscard]] bool is_disturbed(model::Interval span) const;

  std::vector<Switch> switches_;
  std::vector<model::Interval> disturbed_;
  bool ever_on_ = false;
};

// In words: "the recorder's duty cycle", "torch.profiler ran", …
[[nodiscard]] std::string reason_text(ring::CaptureReason reason);

}  // namespace pyrometer::monitor
