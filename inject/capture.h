// GPU capture in this process: CUPTI's activity records into the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "activity_records.h"
#include "api_calls.h"
#include "buffer_pool.h"
#include "clock_conversion.h"
#include "cupti_abi.h"
#include "known_versions.h"
#include "layout_check.h"
#include "ring/writer.h"
#include "worker.h"

namespace pyrometer::inject {

class Capture final : public WorkerTasks {
 public:
  // Takes CUPTI and starts the worker. On failure the ring says why and the process goes on without
  // GPU records. Once per process.
  void start(ring::Writer& writer);

  // Another CUPTI client was here first: no GPU records.
  void refuse(ring::Writer& writer, ring::CaptureReason reason, const char* why);

  // torch.profiler and the like: see hook_abi.h. Return when CUPTI has been given up or taken.
  void yield();
  void resume();

  // The calling thread stands between two training steps: the duty cycle's switch, if one is due,
  // happens here. CUPTI counts the calls that a thread is inside of; switched off in the middle of
  // one, it keeps that thread inside for ever (13.0.1 on an H200): its later calls are lost and all
  // its kernels get one correlation id. Between steps no thread of the training is inside a call.
  // Never waits.
  void step_boundary();

  // Flushes and lets go of CUPTI; waits for two seconds at most.
  void finish(ring::CaptureReason reason);

  bool started() const { return started_.load(std::memory_order_relaxed); }
  // Whether the library's own thread watches over this process.
  bool watched() const { return worker_.running(); }
  void forget_after_fork();

 private:
  // On the worker.
  bool run(std::uint32_t requests) override;
  bool look_around(std::uint32_t requests);
  void handle_control();
  bool capture_wanted() const;
  void follow_duty_cycle();
  void housekeeping();
  bool end(ring::CaptureReason reason);
  void flush(std::uint32_t flags);
  void drain();
  void write_pending();

  // Before the worker runs, then on it.
  bool open(ring::Writer& writer);
  bool claim();
  cupti::Result set_up();
  cupti::Result switch_calls(bool on);
  bool switch_on(ring::CaptureReason reason);
  void switch_off(ring::WriterState state, ring::CaptureReason reason);
  void note_capture(std::uint64_t time, bool on, ring::CaptureReason reason);

  // On CUPTI's threads and on ours.
  static void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t size, std::size_t valid);
  void take_in(std::uint8_t* buffer, std::size_t valid);
  bool layout_is_sound(std::uint8_t* buffer, std::size_t valid);

  std::atomic<bool> started_{false};
  std::atomic<ring::Writer*> writer_{nullptr};
  cupti::Api api_{};
  VersionTraits traits_{};
  ApiCalls calls_{};
  bool has_calls_ = false;
  bool set_up_ = false;     // CUPTI has our clock, thread ids and buffers
  bool shared_ = false;     // another client has had it since
  bool own_clock_ = false;  // CUPTI writes CLOCK_MONOTONIC
  std::uint32_t foreign_thread_id_type_ = 0;
  ClockConversion clock_;
  BufferPool pool_;
  Losses losses_;
  Worker worker_;

  // Of the layout check: under a flag that only one thread at a time holds.
  LayoutCheck layout_{};
  std::atomic<bool> layout_lock_{false};
  std::atomic<const char*> layout_problem_{nullptr};
  std::uint64_t first_on_ = 0;

  // Of the worker, and of a thread between steps: whoever holds `busy_`.
  std::atomic<bool> busy_{false};
  std::atomic<bool> has_steps_{false};  // the program tells of steps: switches wait for their ends
  std::atomic<bool> on_{false};
  bool yielded_ = false;
  bool devices_told_ = false;
  bool workaround_told_ = false;
  std::uint64_t next_second_ = 0;
  std::uint64_t next_flush_ = 0;
  std::uint32_t period_ms_ = 0;  // looks for requests this often
  std::uint32_t flush_ms_ = 0;
  std::atomic<ring::CaptureReason> finish_reason_{ring::CaptureReason::kProcessEnds};
  std::atomic<std::uint64_t> foreign_cpu_ns_{0};  // ours, spent on CUPTI's threads
  ring::CaptureBody pending_[16] = {};            // not in the ring yet
  std::size_t pending_count_ = 0;
};

Capture& capture();

}  // namespace pyrometer::inject
