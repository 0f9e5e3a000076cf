// Tells whether a signal went to the whole process group or to this process alone.
#pragma once

#include <sys/types.h>

namespace pyrometer::monitor {

// A process that does nothing but stay in our process group with all signals blocked: what was sent
// to the group (or, by a batch system, to every process of the job) is pending there, too. It holds
// no files and dies with us.
class GroupWitness {
 public:
  GroupWitness() = default;
  ~GroupWitness() { stop(); }
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Call on the main thread, whose end is the witness's.
  void start();
  void stop();
  // False also where it is not known.
  [[nodiscard]] bool got(int signal) const;

 private:
  pid_t pid_ = -1;
};

}  // namespace pyrometer::monitor
