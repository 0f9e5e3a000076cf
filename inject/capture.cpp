#include "capture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cupti_api.h"
#include "debug.h"
#include "loaded_libraries.h"
#include "process.h"
#include "properties.h"

namespace pyrometer::inject {
namespace {

using ring::CaptureReason;
using ring::WriterState;

constexpr std::uint32_t kDefaultFlushMs = 500;
constexpr std::uint32_t kLongestPeriodMs = 200;
constexpr std::size_t kDeviceBuffers = 8;  // of 3.2 MB: 800,000 activities under way at once

constexpr cupti::Kind kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemcpy2,
                                  cupti::kMemset};

constinit Capture the_capture;

std::uint64_t real_time_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint32_t flush_period_ms() {
  const char* wanted = ::secure_getenv("PYROMETER_FLUSH_MS");
  const unsigned long ms = wanted == nullptr ? 0 : std::strtoul(wanted, nullptr, 10);
  return ms < 1 || ms > 10'000 ? kDefaultFlushMs : static_cast<std::uint32_t>(ms);
}

template <typename Value>
void set_attribute(const cupti::Api& api, cupti::Attribute attribute, Value value) {
  std::size_t size = sizeof value;
  const cupti::Result result = api.set_attribute(attribute, &size, &value);
  debug("CUPTI attribute %u: %d", attribute, result);
}

void on_callback(void* /*user*/, std::uint32_t /*domain*/, std::uint32_t /*cbid*/,
                 const void* /*data*/) {}

}  // namespace

Capture& capture() { return the_capture; }

void Capture::start(ring::Writer& writer) {
  if (started_.exchange(true)) {
    return;
  }
  writer_.store(&writer, std::memory_order_release);
  process().set_cuda_used();
  if (!open(writer) || !claim()) {
    return;
  }
  flush_ms_ = flush_period_ms();
  period_ms_ = std::min(flush_ms_, kLongestPeriodMs);
  if (!switch_on(CaptureReason::kStarted)) {
    return;
  }
  if (!worker_.start(this, period_ms_)) {
    switch_off(WriterState::kNoGpu, CaptureReason::kCuptiError);
  }
}

void Capture::refuse(ring::Writer& writer, CaptureReason reason, const char* why) {
  started_.store(true);
  process().set_cuda_used();
  Process::set_state(writer, WriterState::kNoGpu, reason);
  put_property(writer, "capture.refused", why);
  debug("no GPU records: %s", why);
}

// Finds libcupti and looks whether it is one that we can use.
bool Capture::open(ring::Writer& writer) {
  void* library = open_cupti();
  if (library == nullptr || !cupti::load_api(library, &api_)) {
    refuse(writer, CaptureReason::kNoCupti,
           library == nullptr ? "libcupti was not found" : "libcupti lacks functions");
    return false;
  }
  std::uint32_t version = 0;
  api_.get_version(&version);
  writer.header().cupti_version.store(version, std::memory_order_relaxed);
  char text[16];
  std::snprintf(text, sizeof text, "%u", version);
  put_property(writer, "cupti.version", text);
  traits_ = version_traits(version);
  if (!traits_.supported) {
    refuse(writer, CaptureReason::kUnsupportedCupti, traits_.note);
    return false;
  }
  if (traits_.note != nullptr) {
    put_property(writer, "capture.note", traits_.note);
  }
  if (!pool_.init()) {
    refuse(writer, CaptureReason::kCuptiError, "no memory for buffers");
    return false;
  }
  return true;
}

// Whether CUPTI is free. A subscription is exclusive, so asking for one tells; keeping it would
// shut out torch.profiler, which asks for one of its own.
bool Capture::claim() {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  if (::secure_getenv("KINETO_USE_DAEMON") != nullptr) {
    refuse(writer, CaptureReason::kClientHoldsCupti, "a Kineto daemon has this process's traces");
    return false;
  }
  cupti::Subscriber subscriber = nullptr;
  const cupti::Result result = api_.subscribe(&subscriber, &on_callback, nullptr);
  if (result != cupti::kSuccess) {
    char text[64];
    std::snprintf(text, sizeof text, "cuptiSubscribe failed with error %d", result);
    const bool held = result == cupti::kMultipleSubscribers;
    refuse(writer, held ? CaptureReason::kClientHoldsCupti : CaptureReason::kCuptiError,
           held ? "another profiler holds CUPTI" : text);
    return false;
  }
  api_.unsubscribe(subscriber);
  set_attribute(api_, cupti::kDeviceBufferPoolLimit, kDeviceBuffers);
  if (traits_.host_pinned) {
    set_attribute(api_, cupti::kHostPinned, std::uint8_t{1});
  }
  has_calls_ = calls_.find(api_);
  put_property(writer, "capture.api_calls", has_calls_ ? "launch, copy, sync, memory" : "none");
  return true;
}

// CUPTI's clock, thread ids and buffers, once at the start and once after another client had it.
// Not at every switch of the duty cycle: both are documented as unsafe then, and with CUPTI 13.0.1
// setting the clock again while work is under way crashed the program in a thread of CUPTI's own.
cupti::Result Capture::set_up() {
  own_clock_ = api_.register_timestamp_callback != nullptr &&
               api_.register_timestamp_callback(&ring::monotonic_ns) == cupti::kSuccess;
  if (own_clock_) {
    clock_.use_none();
  } else {
    clock_.sample(api_);
  }
  if (api_.get_thread_id_type(&foreign_thread_id_type_) != cupti::kSuccess) {
    foreign_thread_id_type_ = 0;
  }
  if (foreign_thread_id_type_ != cupti::kThreadIdSystem) {
    api_.set_thread_id_type(cupti::kThreadIdSystem);
  }
  const cupti::Result result = api_.register_callbacks(&buffer_requested, &buffer_completed);
  set_up_ = result == cupti::kSuccess;
  return result;
}

bool Capture::switch_on(CaptureReason reason) {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  // Records carry the clock that is set when they are made: first of all, then.
  cupti::Result result = set_up_ ? cupti::kSuccess : set_up();
  first_on_ = first_on_ == 0 ? ring::monotonic_ns() : first_on_;
  on_ = true;
  for (const cupti::Kind kind : kKinds) {
    result = result == cupti::kSuccess ? api_.enable(kind) : result;
  }
  if (result != cupti::kSuccess) {
    char text[64];
    std::snprintf(text, sizeof text, "CUPTI error %d when switched on", result);
    put_property(writer, "capture.refused", text);
    switch_off(WriterState::kNoGpu, result == cupti::kMultipleSubscribers
                                        ? CaptureReason::kClientHoldsCupti
                                        : CaptureReason::kCuptiError);
    return false;
  }
  if (has_calls_) {
    result = switch_calls(true);
    debug("API calls: %zu, result %d", calls_.count(), result);
  }
  // What is launched from here on is recorded.
  note_capture(ring::monotonic_ns(), true, reason);
  Process::set_state(writer, WriterState::kCapturing, reason);
  return true;
}

cupti::Result Capture::switch_calls(bool on) {
  return shared_ ? calls_.enable_by_kind(api_, on) : calls_.enable(api_, on);
}

void Capture::switch_off(WriterState state, CaptureReason reason) {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  if (on_) {
    // All that was launched until here is recorded.
    note_capture(ring::monotonic_ns(), false, reason);
    if (has_calls_) {
      switch_calls(false);
    }
    for (const cupti::Kind kind : kKinds) {
      api_.disable(kind);
    }
    on_ = false;
  }
  Process::set_state(writer, state, reason);
}

void Capture::note_capture(std::uint64_t time, bool on, CaptureReason reason) {
  if (pending_count_ < sizeof pending_ / sizeof *pending_) {
    pending_[pending_count_++] = {.time = time, .on = on ? 1U : 0U, .reason = reason};
  }
  write_pending();
}

// Switches of the capture must not get lost: they wait for room.
void Capture::write_pending() {
  ring::Writer& writer = *writer_.load(std::memory_order_relaxed);
  std::size_t done = 0;
  while (done < pending_count_ && writer.has_room() &&
         writer.write(ring::RecordType::kCapture, 0, pending_[done])) {
    ++done;
  }
  for (std::size_t i = done; i < pending_count_; ++i) {
    pending_[i - done] = pending_[i];
  }
  pending_count_ -= done;
}

void Capture::yield() {
  if (worker_.running()) {
    worker_.request(kYield, 5000);
  }
}

void Capture::resume() {
  if (worker_.running()) {
    worker_.request(kResume, 5000);
  }
}

void Capture::finish(CaptureReason reason) {
  if (worker_.running()) {
    finish_reason_.store(reason, std::memory_order_relaxed);
    const bool done = worker_.request(kFinish, 2000);
    debug("finish: %s", done ? "done" : "given up");
  }
}

// The clock that others expect, while they have CUPTI.
void Capture::drain() {
  // Records that are under way come when their work is done: a moment for that, then all that there
  // is. Buffers of ours must not reach the next client.
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < 50 && pool_.taken() > 0; ++i) {
    flush(0);
    if (pool_.taken() > 0) {
      ::nanosleep(&kPause, nullptr);
    }
  }
  flush(cupti::kFlushForced);
  set_up_ = false;
  shared_ = true;
  if (own_clock_) {
    api_.register_timestamp_callback(&real_time_ns);
  }
  if (foreign_thread_id_type_ != cupti::kThreadIdSystem) {
    api_.set_thread_id_type(foreign_thread_id_type_);
  }
}

void Capture::forget_after_fork() {
  busy_.store(false, std::memory_order_relaxed);
  writer_.store(nullptr, std::memory_order_relaxed);
  worker_.forget_after_fork();
}

}  // namespace pyrometer::inject
