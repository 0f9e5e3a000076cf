// What Capture does on the library's own thread and in CUPTI's callbacks.
#include <ctime>

#include "capture.h"
#include "debug.h"
#include "process.h"
#include "properties.h"

namespace pyrometer::inject {
namespace {

using ring::CaptureReason;
using ring::WriterState;

constexpr std::uint64_t kSecond = 1'000'000'000;

// True on the worker: what it spends in callbacks is in its own time already.
thread_local bool on_worker = false;

std::uint64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

bool Capture::run(std::uint32_t requests) {
  on_worker = true;
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 50'000};
  while (busy_.exchange(true, std::memory_order_acquire)) {
    ::nanosleep(&kMoment, nullptr);
  }
  const bool wanted = look_around(requests);
  busy_.store(false, std::memory_order_release);
  return wanted;
}

bool Capture::look_around(std::uint32_t requests) {
  ring::Writer* writer = writer_.load(std::memory_order_acquire);
  if ((requests & kFinish) != 0) {
    return end(finish_reason_.load(std::memory_order_relaxed));
  }
  const std::uint32_t control = writer->header().control.load(std::memory_order_acquire);
  if ((control & ring::kControlEnd) != 0) {
    return end(CaptureReason::kDisabled);
  }
  const std::uint64_t step_limit = std::uint64_t{period_ms_} * 5'000'000;
  if (process().monitor_gone(*writer, ring::monotonic_ns(), step_limit)) {
    return end(CaptureReason::kMonitorGone);
  }
  if ((requests & kYield) != 0 && !yielded_) {
    yielded_ = true;
    switch_off(WriterState::kPaused, CaptureReason::kProfilerStarted);
    drain();
  }
  if ((requests & kResume) != 0 && yielded_) {
    yielded_ = false;
    switch_on(CaptureReason::kProfilerEnded);
  }
  if (!yielded_) {
    handle_control();
    const std::uint64_t now = ring::monotonic_ns();
    const std::uint64_t half_period = std::uint64_t{period_ms_} * 500'000;
    if (now + half_period >= next_flush_) {
      next_flush_ = now + std::uint64_t{flush_ms_} * 1'000'000;
      flush(0);
    }
  }
  housekeeping();
  return true;
}

// The monitor's duty cycle, and a layout that turned out to be unknown.
void Capture::handle_control() {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  if (const char* problem = layout_problem_.load(std::memory_order_acquire); problem != nullptr) {
    if (on_) {
      switch_off(WriterState::kNoGpu, CaptureReason::kUnsupportedCupti);
      put_property(writer, "capture.refused", problem);
    }
    return;
  }
  const bool wanted = capture_wanted();
  if (!wanted && !traits_.disable) {
    if (!workaround_told_) {
      workaround_told_ = put_property(writer, "capture.duty_cycle", "refused: see capture.note");
    }
  } else if (wanted != on_ && !has_steps_.load(std::memory_order_relaxed)) {
    follow_duty_cycle();
  }
}

bool Capture::capture_wanted() const {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  const std::uint32_t control = writer.header().control.load(std::memory_order_acquire);
  return (control & ring::kControlCaptureOff) == 0;
}

void Capture::follow_duty_cycle() {
  if (capture_wanted()) {
    switch_on(CaptureReason::kDutyCycle);
  } else {
    switch_off(WriterState::kPaused, CaptureReason::kDutyCycle);
  }
  next_flush_ = 0;
}

void Capture::step_boundary() {
  if (!worker_.running()) {
    return;
  }
  has_steps_.store(true, std::memory_order_relaxed);
  if (capture_wanted() == on_.load(std::memory_order_relaxed) ||
      busy_.exchange(true, std::memory_order_acquire)) {
    return;
  }
  const bool usable =
      traits_.disable && !yielded_ && layout_problem_.load(std::memory_order_acquire) == nullptr;
  if (usable && worker_.running() && capture_wanted() != on_) {
    follow_duty_cycle();
  }
  busy_.store(false, std::memory_order_release);
}

void Capture::housekeeping() {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  write_pending();
  std::size_t dropped = 0;
  if (!yielded_ && api_.get_dropped(nullptr, 0, &dropped) == cupti::kSuccess && dropped > 0) {
    losses_.add(ring::RecordType::kNone, dropped);
  }
  losses_.report(writer);
  if (!devices_told_) {
    devices_told_ = put_device_properties(writer);
  }
  const std::uint64_t now = ring::monotonic_ns();
  if (now >= next_second_) {
    next_second_ = now + kSecond;
    if (!own_clock_ && !yielded_) {
      clock_.sample(api_);
    }
  }
  writer.header().own_cpu_ns.store(
      thread_cpu_ns() + foreign_cpu_ns_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// Lets go of CUPTI and of the session. Always false: the thread ends.
bool Capture::end(CaptureReason reason) {
  if (!yielded_) {
    // Switching off is what deadlocks in the one version that cannot do it; then records stop
    // because nobody takes them.
    if (traits_.disable) {
      switch_off(WriterState::kInert, reason);
    }
    flush(cupti::kFlushForced);
  }
  housekeeping();
  process().go_inert(reason);
  return false;
}

void Capture::flush(std::uint32_t flags) {
  if (traits_.flush) {
    api_.flush_all(flags);
  }
}

void Capture::buffer_requested(std::uint8_t** buffer, std::size_t* size,
                               std::size_t* most_records) {
  *buffer = capture().pool_.take();
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *most_records = 0;
}

void Capture::buffer_completed(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                               std::size_t /*size*/, std::size_t valid) {
  Capture& self = capture();
  if (buffer == nullptr) {
    return;
  }
  const std::uint64_t before = on_worker ? 0 : thread_cpu_ns();
  self.take_in(buffer, valid);
  if (!on_worker) {
    self.foreign_cpu_ns_.fetch_add(thread_cpu_ns() - before, std::memory_order_relaxed);
  }
  self.pool_.give_back(buffer);
}

void Capture::take_in(std::uint8_t* buffer, std::size_t valid) {
  ring::Writer* writer = writer_.load(std::memory_order_acquire);
  if (writer == nullptr || !writer->live() || process().writer() == nullptr || valid == 0 ||
      !layout_is_sound(buffer, valid)) {
    return;
  }
  write_activities({api_, calls_, clock_, *writer, losses_}, buffer, valid);
}

bool Capture::layout_is_sound(std::uint8_t* buffer, std::size_t valid) {
  while (layout_lock_.exchange(true, std::memory_order_acquire)) {
  }
  if (!layout_.done() && layout_problem_.load(std::memory_order_relaxed) == nullptr) {
    std::uint64_t now = ring::monotonic_ns();
    std::uint64_t earliest = first_on_;
    if (!own_clock_) {
      // On the other clock: the same distance.
      const std::uint64_t offset = now - clock_.to_monotonic(now);
      now += offset;
      earliest += offset;
    }
    const char* problem = layout_.examine(api_, buffer, valid, earliest, now);
    if (problem != nullptr) {
      debug("refused: %s", problem);
      layout_problem_.store(problem, std::memory_order_release);
    }
  }
  layout_lock_.store(false, std::memory_order_release);
  return layout_problem_.load(std::memory_order_acquire) == nullptr;
}

}  // namespace pyrometer::inject
