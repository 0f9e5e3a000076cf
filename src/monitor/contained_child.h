// A command on trial: whatever it does, it ends, and everything that it started with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "monitor/child.h"

namespace pyrometer::monitor {

struct ContainedCommand {
  std::vector<std::string> words;        // the program (searched in PATH) and its arguments
  std::vector<std::string> environment;  // NAME=value on top of our own, NAME alone unsets
  std::string folder;                    // to run in; empty: ours
  std::string log;                       // file for its output and errors, made anew
};

// It has no input and a process group of its own: signals of the terminal do not reach it, whoever
// holds it passes on what shall be. A guardian (guardian.h) stands between: processes that outlive
// their parents fall to it and are ended with the command, and should this process be killed, it
// ends them all.
class ContainedChild {
 public:
  // Errors: kNotFound, kPermission, kResource, and kIo for the log.
  [[nodiscard]] static base::Result<ContainedChild> start(const ContainedCommand& command);
  // Ends what still runs, at once.
  ~ContainedChild();
  ContainedChild(ContainedChild&& other) noexcept;
  ContainedChild& operator=(ContainedChild&&) = delete;
  ContainedChild(const ContainedChild&) = delete;
  ContainedChild& operator=(const ContainedChild&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Its end, once it has come; what it left behind has been ended then. Waits at most so long.
  [[nodiscard]] std::optional<ChildEnd> wait(std::chrono::milliseconds most);
  // To the whole group.
  void signal(int number) const;
  // Asks it to end (SIGTERM), insists after `patience` (SIGKILL), and waits for it.
  [[nodiscard]] ChildEnd end(std::chrono::milliseconds patience);

 private:
  ContainedChild(pid_t guardian, pid_t pid, int line)
      : guardian_(guardian), pid_(pid), line_(line) {}
  void finish(const ChildEnd& end);

  pid_t guardian_;
  pid_t pid_;  // of the command and of its group
  int line_;   // to the guardian; -1: it has ended
  std::optional<ChildEnd> end_;
};

}  // namespace pyrometer::monitor
