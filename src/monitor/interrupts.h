// Ctrl-C and its like, for commands that start others: the first one is noted, not obeyed at once.
#pragma once

namespace pyrometer::monitor {

// While one exists, SIGINT, SIGTERM and SIGHUP are noted; those that were ignored stay ignored. A
// second SIGINT or SIGTERM is noted as well: nobody waits then. One object at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // The signal that came first; 0: none.
  [[nodiscard]] static int signal();
  // How many came.
  [[nodiscard]] static int count();
};

}  // namespace pyrometer::monitor
