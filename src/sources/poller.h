// Samples sources at their periods, each on a thread of its own, so that a driver call that hangs
// holds up nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sources/source.h"

namespace pyrometer::sources {

// Takes what was measured. Called from the poller's threads, one call at a time, never again once
// stop() has returned. Must not throw and must not call the poller. It may move parts out of the
// batch; the sampling thread waits while it runs.
using BatchSink = std::function<void(Batch&)>;

enum class SourceState : std::uint8_t {
  kStarting,
  kRunning,
  kFailed,  // retried later
  kStale,   // a call has not returned for `stale_after`
  kStopped,
};

struct SourceHealth {
  std::string_view name;
  SourceState state = SourceState::kStarting;
  std::string reason;             // of a failure, in words, with what to do; else empty
  std::int64_t last_good_ns = 0;  // end of the last sample that worked; 0: none yet
  std::int64_t cpu_ns = 0;        // CPU time of its thread so far
  std::int64_t samples = 0;
};

struct PollerOptions {
  double period_scale = 1;  // of all periods; tests use small ones
  std::chrono::nanoseconds stale_after = std::chrono::seconds(5);
  std::chrono::nanoseconds first_retry = std::chrono::seconds(1);  // doubles with each failure
  std::chrono::nanoseconds last_retry = std::chrono::seconds(60);
};

class Poller {
 public:
  Poller(std::vector<std::unique_ptr<Source>> sources, BatchSink sink, PollerOptions options = {});
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();  // stop()

  // Starts the threads. Errors: kResource. Call once.
  [[nodiscard]] base::Result<void> start();

  // Samples every group of every source once more, now, and waits for that up to `patience`: for
  // the last counters of a run. False where a source did not manage (hangs, failed).
  bool sample_all(std::chrono::nanoseconds patience);

  // Ends the threads and waits for them up to `patience`. A thread that is in a call which does not
  // return is left behind with its source: it touches nothing of the caller's from then on and is
  // never joined. False where that happened. May be called again.
  bool stop(std::chrono::nanoseconds patience = std::chrono::milliseconds(50));

  // State of each source, in their order. Never waits for a source or the sink. Any thread.
  [[nodiscard]] std::vector<SourceHealth> health() const;
  // Says through the sink which sources have become stale since the last time. The sources look
  // after one another; where all of them hang, somebody else has to. Any thread that may wait for
  // the sink.
  void notice_stale();

  // CPU time of all sampling threads so far, in nanoseconds. Any thread.
  [[nodiscard]] std::int64_t cpu_ns() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // outlives this object where a thread is left behind
};

}  // namespace pyrometer::sources
