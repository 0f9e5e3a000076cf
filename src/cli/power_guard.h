// Sees to it that power limits come back, whatever becomes of this process.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/result.h"

namespace pyrometer::cli {

// A process of its own, in its own session, that waits for this one to end. Where that happens
// before dismiss(), by SIGKILL say, it sets the limits that it was told of. Only its own SIGKILL,
// or the machine's end, can keep it from that; a reboot forgets limits anyway.
class PowerGuard {
 public:
  // Before NVML is opened here and before other threads run: it goes on with what this process has.
  [[nodiscard]] static base::Result<PowerGuard> start();
  PowerGuard(PowerGuard&& other) noexcept;
  PowerGuard& operator=(PowerGuard&&) = delete;
  PowerGuard(const PowerGuard&) = delete;
  PowerGuard& operator=(const PowerGuard&) = delete;
  ~PowerGuard() { end(); }  // without dismiss() it does what it is there for

  // A text as of sources::nvml::text_of(). Call before a limit is changed.
  [[nodiscard]] base::Result<void> remember(std::string_view limits);
  // All is as it was: it has nothing to do.
  void dismiss();

 private:
  PowerGuard(pid_t process, int line) : process_(process), line_(line) {}
  void end();

  pid_t process_;
  int line_;  // a pipe to it; -1: it has ended
};

}  // namespace pyrometer::cli
