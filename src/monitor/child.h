// The recorded command: started, signalled and waited for so that it behaves as without us.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace pyrometer::monitor {

struct ChildEnd {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
};

// It runs in the monitor's process group with the same terminal, stdin, stdout and stderr. Signals
// of the terminal (Ctrl-C, Ctrl-\, hang-up), and those that a batch system sends to every process,
// reach it directly; those sent to the monitor's pid alone are passed on: each comes once. When it
// stops, so does the monitor, and the other way round. One object at a time: signal dispositions
// belong to the process.
class Child {
 public:
  // `environment` holds NAME=value to set on top of our own. Errors: kNotFound (exit code 127),
  // kPermission (126) as a shell would say it, kResource.
  [[nodiscard]] static base::Result<Child> start(const std::vector<std::string>& command,
                                                 const std::vector<std::string>& environment);

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Waits at most `milliseconds` for something to happen: a signal, the end of the child. Passes
  // signals on. The end of the child once it has come.
  [[nodiscard]] std::optional<ChildEnd> wait(int milliseconds);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

// Ends this process as the child ended: the same exit code, or by the same signal (without a second
// core dump).
[[noreturn]] void end_like(const ChildEnd& end);

}  // namespace pyrometer::monitor
