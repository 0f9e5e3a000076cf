// The process between us and a command on trial: it sees to it that all of it ends, whatever
// becomes of us.
#pragma once

#include <sys/types.h>

#include <vector>

namespace pyrometer::monitor {

// What the guardian says first: whether the command runs.
struct GuardianReport {
  int error = 0;      // errno of what failed; 0: it runs
  pid_t command = 0;  // also its process group
};

// What a guardian needs; all of it made before the fork.
struct GuardianTask {
  const std::vector<char*>& words;        // null at the end
  const std::vector<char*>& environment;  // the same
  const char* folder;                     // "": the present one
  int log;                                // file descriptor
  int line;                               // of a SOCK_SEQPACKET pair, whose other end we hold
};

// Call in a forked process, which it takes over: it leaves our session, starts the command in a
// process group of its own, and becomes the parent of all that loses its parent below
// (PR_SET_CHILD_SUBREAPER).
//
// On `line` it sends a GuardianReport and, when the command has ended and everything that the
// command left behind has been ended, the status as waitpid() gives it. Each byte that it gets is
// the number of a signal for the command's group. When the line is cut, because we are gone, the
// group gets SIGTERM and, two seconds later, everything SIGKILL.
//
// Makes system calls alone, so that other threads at the time of the fork do no harm.
[[noreturn]] void guard(const GuardianTask& task);

}  // namespace pyrometer::monitor
