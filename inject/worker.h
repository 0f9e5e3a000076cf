// The library's own thread: CUPTI is flushed, switched and torn down from here alone.
#pragma once

#include <atomic>
#include <cstdint>

namespace pyrometer::inject {

enum WorkerRequest : std::uint32_t {
  kYield = 1,   // give CUPTI up for another client
  kResume = 2,  // take it again
  kFinish = 4,  // the process ends, or is not to be recorded any more
};

class WorkerTasks {
 public:
  // Handles requests (a set of WorkerRequest) and then looks after everything. False: the thread is
  // no longer needed.
  virtual bool run(std::uint32_t requests) = 0;

 protected:
  ~WorkerTasks() = default;
};

class Worker {
 public:
  // Starts the thread: `tasks->run(0)` each `period_ms`. All signals are blocked in it.
  bool start(WorkerTasks* tasks, std::uint32_t period_ms);

  // Hands a request over and waits until it is done, `limit_ms` at most. False: not done.
  bool request(WorkerRequest request, std::uint32_t limit_ms);

  // How long it waits until the next `run`. From inside of `run`.
  void set_period(std::uint32_t period_ms) { period_ms_ = period_ms; }

  bool running() const { return running_.load(std::memory_order_acquire); }

  // In a child by fork: there is no thread.
  void forget_after_fork();

 private:
  static void* main(void* self);
  void loop();

  WorkerTasks* tasks_ = nullptr;
  std::uint32_t period_ms_ = 0;
  std::atomic<std::uint32_t> pending_{0};  // also the word that both sides wait on
  std::atomic<bool> running_{false};
};

}  // namespace pyrometer::inject
