// The process that a signal is to go to.
#pragma once

#include <cstdint>
#include <string>

namespace pyrometer::tui {

// Holds on to one process, so that the signal cannot reach another that has taken its number.
class Target {
 public:
  Target() = default;
  ~Target() { let_go(); }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  // `start_ticks`: of the process that was seen; 0: not known. Returns why it cannot be, or "".
  [[nodiscard]] std::string aim(int pid, std::uint64_t start_ticks);
  // Returns what went wrong, or "". Aim first.
  [[nodiscard]] std::string send(int number);
  void let_go();

 private:
  int pid_ = -1;
  int handle_ = -1;  // pidfd; -1: the kernel has none
};

}  // namespace pyrometer::tui
