#include "process.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "capture.h"
#include "debug.h"
#include "stack_sampler.h"
#include "thread_id.h"

namespace pyrometer::inject {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMonitorSilence = 10 * kSecond;

constinit Process the_process;
// Held while a ring is made. Lock order: this one first, then none.
pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

std::uint32_t ring_slots() {
  const char* wanted = ::secure_getenv("PYROMETER_RING_SLOTS");  // for tests
  const unsigned long slots = wanted == nullptr ? 0 : std::strtoul(wanted, nullptr, 10);
  return slots < 64 || slots > (1UL << 24) ? ring::kDefaultSlots
                                           : std::bit_floor(static_cast<std::uint32_t>(slots));
}

}  // namespace

Process& process() { return the_process; }

Attach Process::attach(bool by_driver) {
  if (writer() != nullptr) {
    return Attach::kRecorded;
  }
  if (forked_.load(std::memory_order_relaxed) &&
      (!by_driver || cuda_used_.load(std::memory_order_relaxed))) {
    return Attach::kForked;
  }
  if (retired_.load(std::memory_order_relaxed)) {
    return Attach::kNoSession;
  }
  if (ended_.load(std::memory_order_relaxed)) {
    return Attach::kSessionOver;
  }
  ::pthread_mutex_lock(&attach_lock);
  const Attach result = writer() != nullptr ? Attach::kRecorded : make_ring();
  ::pthread_mutex_unlock(&attach_lock);
  return result;
}

Attach Process::make_ring() {
  const char* folder = ::secure_getenv(ring::kSessionVariable);
  if (folder == nullptr || *folder != '/') {
    return Attach::kNoSession;
  }
  static std::atomic<bool> handlers{false};
  if (!handlers.exchange(true)) {
    ::pthread_atfork(nullptr, nullptr, [] { process().forget_after_fork(); });
  }
  ring::CreateError error = ring::CreateError::kNone;
  ring::Writer* writer = ring::Writer::create(folder, ring_slots(), &error);
  debug("ring in %s: %s", folder, writer != nullptr ? "made" : "none");
  if (writer == nullptr) {
    return error == ring::CreateError::kSessionOver ? Attach::kSessionOver : Attach::kNoRoom;
  }
  set_state(*writer, ring::WriterState::kNoGpu, ring::CaptureReason::kNone);
  last_look_.store(ring::monotonic_ns(), std::memory_order_relaxed);
  silent_ns_.store(0, std::memory_order_relaxed);
  writer_.store(writer, std::memory_order_release);
  return Attach::kRecorded;
}

void Process::set_state(ring::Writer& writer, ring::WriterState state, ring::CaptureReason reason) {
  writer.header().state_reason.store(static_cast<std::uint32_t>(reason), std::memory_order_relaxed);
  writer.header().state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void Process::go_inert(ring::CaptureReason reason) {
  ended_.store(true, std::memory_order_relaxed);
  ring::Writer* writer = writer_.exchange(nullptr, std::memory_order_acq_rel);
  if (writer != nullptr && writer->live()) {
    set_state(*writer, ring::WriterState::kInert, reason);
    debug("inert, reason %u", static_cast<unsigned>(reason));
  }
}

void Process::retire() {
  ring::Writer* writer = this->writer();
  retired_.store(true, std::memory_order_relaxed);
  if (writer != nullptr) {
    writer->unlink_file();
    go_inert(ring::CaptureReason::kDisabled);
  }
}

bool Process::monitor_gone(ring::Writer& writer, std::uint64_t now, std::uint64_t step_limit) {
  const std::uint64_t heartbeat = writer.header().heartbeat.load(std::memory_order_acquire);
  const std::uint64_t passed = now - last_look_.exchange(now, std::memory_order_relaxed);
  if (last_heartbeat_.exchange(heartbeat, std::memory_order_relaxed) != heartbeat) {
    silent_ns_.store(0, std::memory_order_relaxed);
  } else {
    silent_ns_.fetch_add(std::min(passed, step_limit), std::memory_order_relaxed);
  }
  return silent_ns_.load(std::memory_order_relaxed) > kMonitorSilence || writer.reader_ended();
}

void Process::glance_at_monitor(ring::Writer& writer, std::uint64_t now) {
  if (static_cast<std::int64_t>(now - last_look_.load(std::memory_order_relaxed)) <
      static_cast<std::int64_t>(kSecond)) {
    return;
  }
  const bool ended =
      (writer.header().control.load(std::memory_order_relaxed) & ring::kControlEnd) != 0;
  // A hook that is called once in five seconds still has to hear two silent ones.
  if (ended || monitor_gone(writer, now, kMonitorSilence / 2)) {
    go_inert(ended ? ring::CaptureReason::kDisabled : ring::CaptureReason::kMonitorGone);
  }
}

void Process::forget_after_fork() {
  forked_.store(true, std::memory_order_relaxed);
  writer_.store(nullptr, std::memory_order_relaxed);
  // Another thread of the parent may have held it.
  attach_lock = PTHREAD_MUTEX_INITIALIZER;
  forget_thread_id();
  capture().forget_after_fork();
  stack_sampler().forget_after_fork();
}

}  // namespace pyrometer::inject
