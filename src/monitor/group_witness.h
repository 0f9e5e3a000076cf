// Tells whether a signal went to the whole process group or to this process alone.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace pyrometer::monitor {

// A process that stays in our process group and counts what other processes send to the group (or,
// as a batch system, to every process of the job). It holds no files and dies with us.
class GroupWitness {
 public:
  static constexpr int kSignals = 65;

  GroupWitness() = default;
  ~GroupWitness() { stop(); }
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Call on the main thread, whose end is the witness's. Where it fails, saw() says no.
  void start();
  void stop();

  // Whether the witness got this signal since the last time that this was asked. Ask a moment after
  // the signal came here; may wait some milliseconds.
  [[nodiscard]] bool saw(int signal);

 private:
  using Counts = std::array<std::atomic<std::uint32_t>, kSignals>;

  [[nodiscard]] bool has_pending(int signal) const;
  [[noreturn]] static void watch(pid_t parent, Counts& counts);

  pid_t pid_ = -1;
  Counts* counts_ = nullptr;  // shared with the witness
  std::array<std::uint32_t, kSignals> told_{};
};

}  // namespace pyrometer::monitor
