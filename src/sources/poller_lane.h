// The thread that samples one source, and what its owner can see of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sources/poller.h"

namespace pyrometer::sources {

class Lane;

// What all lanes share. Lock order: `mutex` and `sink_mutex` are never held together.
struct PollerControl {
  PollerControl();
  ~PollerControl();

  PollerOptions options;
  std::vector<std::unique_ptr<Lane>> lanes;  // fixed before the first thread starts

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;      // guarded by mutex
  std::uint64_t request = 0;  // guarded by mutex; raised to have everything sampled at once

  std::mutex sink_mutex;
  BatchSink sink;  // guarded by sink_mutex; empty once nothing may be delivered any more

  void deliver(Batch& batch);
};

class Lane {
 public:
  Lane(PollerControl& control, std::unique_ptr<Source> source);

  // The thread's work, until the control stops it.
  void run();

  [[nodiscard]] SourceHealth health(std::int64_t now_ns);
  // Tells, once per hang, that the source has become stale. False where the sink was in use.
  void notice_stale(std::int64_t now_ns);
  [[nodiscard]] std::int64_t cpu_ns() const { return cpu_ns_; }

  // Guarded by control.mutex:
  std::thread thread;
  bool finished = false;     // run() has nothing more to do
  bool abandoned = false;    // nobody waits for run() any more
  std::uint64_t served = 0;  // the last request that was dealt with
  bool served_well = false;  // and whether all samples worked

 private:
  [[nodiscard]] bool stopping();
  [[nodiscard]] bool leak_if_abandoned();
  [[nodiscard]] bool start_source();
  void sample_until_failure();
  [[nodiscard]] bool sample_group(std::size_t group);
  [[nodiscard]] bool sample_due(bool all);
  template <typename Call>
  [[nodiscard]] base::Result<void> guarded(const Call& call);
  void fail(const base::Error& error);
  void tell(EventKind kind, std::string text);
  void wait_for_retry();
  void serve(std::uint64_t request, bool well);
  void add_own_cost(Batch& batch);
  [[nodiscard]] std::chrono::steady_clock::time_point next_due() const;
  [[nodiscard]] bool is_stale(std::int64_t now_ns) const;

  PollerControl& control_;
  std::unique_ptr<Source> source_;
  std::string name_;  // a copy: the owner asks for it while the source is in use
  Batch batch_;
  std::vector<std::chrono::steady_clock::time_point> due_;
  std::chrono::nanoseconds retry_{};

  std::atomic<std::int64_t> call_began_ns_{0};  // 0: in no call
  std::atomic<std::int64_t> last_good_ns_{0};
  std::atomic<std::int64_t> cpu_ns_{0};
  std::atomic<std::int64_t> samples_{0};
  std::atomic<bool> stale_told_{false};

  std::mutex state_mutex_;  // of the two below
  SourceState state_ = SourceState::kStarting;
  std::string reason_;
};

}  // namespace pyrometer::sources
