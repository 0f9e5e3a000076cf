// What this process is to the session: its ring, and whether it is still recorded.
#pragma once

#include <atomic>
#include <cstdint>

#include "ring/layout.h"
#include "ring/writer.h"

namespace pyrometer::inject {

// The results of pyrometer_hook_attach.
enum class Attach : int {
  kRecorded = 0,
  kNoSession = 1,
  kSessionOver = 2,
  kNoRoom = 3,
  kForked = 4,
};

class Process {
 public:
  // Makes the ring, once. `by_driver`: CUDA comes up in this process. That also takes back a child
  // by fork whose parent had no CUDA; all other children by fork stay out.
  Attach attach(bool by_driver);

  // Null where nothing is recorded: not attached, inert, a child by fork.
  ring::Writer* writer() const {
    ring::Writer* writer = writer_.load(std::memory_order_acquire);
    return writer != nullptr && writer->live() ? writer : nullptr;
  }

  // From now on nothing is recorded. What other threads are about to write may still be.
  void go_inert(ring::CaptureReason reason);

  // Inert, the ring's name removed, for good.
  void retire();

  // Called now and then: has the monitor gone? Time counts only while we are seen to run, in steps
  // of `step_limit` at most, so that stopping and continuing the whole session does no harm.
  bool monitor_gone(ring::Writer& writer, std::uint64_t now, std::uint64_t step_limit);

  // The same for calls of the hook where no thread of ours looks: at most every second.
  void glance_at_monitor(ring::Writer& writer, std::uint64_t now);

  // CUDA has been started here: children by fork cannot use it, and have no use for a ring.
  void set_cuda_used() { cuda_used_.store(true, std::memory_order_relaxed); }

  static void set_state(ring::Writer& writer, ring::WriterState state, ring::CaptureReason reason);

  // In a child, right after fork. Takes no lock.
  void forget_after_fork();

 private:
  Attach make_ring();

  std::atomic<ring::Writer*> writer_{nullptr};
  std::atomic<bool> forked_{false};
  std::atomic<bool> retired_{false};
  std::atomic<bool> cuda_used_{false};
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> last_heartbeat_{0};
  std::atomic<std::uint64_t> last_look_{0};
  std::atomic<std::uint64_t> silent_ns_{0};
};

Process& process();

}  // namespace pyrometer::inject
