// When the hook shall name blocking calls, with their lines: for some steps, rarely.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/types.h"

namespace pyrometer::monitor {

// While a window is open the hook wraps tensor methods, and a call that it names costs some
// microseconds. One is opened once the process has shown that it waits for its device in most
// steps, and again at ever longer intervals as long as it does. Steps inside are neither compared
// nor kept, and what they take longer is counted as the cost of switching is. One per process;
// times in ns of CLOCK_MONOTONIC.
class SyncWindows {
 public:
  // `undisturbed`: how long the first steps are left alone, so that short runs are kept whole.
  explicit SyncWindows(model::DurationNs undisturbed = 2'000'000'000) : undisturbed_(undisturbed) {}

  // A step has ended; a call of the runtime or driver has returned.
  void add_step();
  void add_call(std::string_view name);

  // Whether a window shall be open now. `watched`: capture is on.
  [[nodiscard]] bool want_open(model::TimeNs now, bool watched);

 private:
  model::DurationNs undisturbed_;
  model::TimeNs seen_ = 0;  // when the first steps had been
  std::int64_t steps_ = 0;  // since the last window, or in the open one
  std::int64_t waits_ = 0;
  bool open_ = false;
  model::TimeNs opened_ = 0;
  model::TimeNs next_ = 0;  // not before
  model::DurationNs interval_ = 0;
};

// Calls that return when the device has done something: synchronisations, and copies that are not
// asynchronous.
[[nodiscard]] bool is_blocking_call(std::string_view name);

}  // namespace pyrometer::monitor
