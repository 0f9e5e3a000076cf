#include "worker.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "ring/writer.h"

namespace pyrometer::inject {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                     std::uint64_t most_ns) {
  const timespec limit{.tv_sec = static_cast<time_t>(most_ns / 1'000'000'000),
                       .tv_nsec = static_cast<long>(most_ns % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

void wake_all(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

constexpr std::uint64_t ms_to_ns(std::uint32_t ms) { return std::uint64_t{ms} * 1'000'000; }

}  // namespace

bool Worker::start(WorkerTasks* tasks, std::uint32_t period_ms) {
  tasks_ = tasks;
  period_ms_ = period_ms;
  pending_.store(0, std::memory_order_relaxed);
  running_.store(true, std::memory_order_release);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_t thread;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const bool started = ::pthread_create(&thread, &attributes, &Worker::main, this) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    running_.store(false, std::memory_order_release);
  }
  return started;
}

void* Worker::main(void* self) {
  ::prctl(PR_SET_NAME, "pyrometer");
  static_cast<Worker*>(self)->loop();
  return nullptr;
}

void Worker::loop() {
  for (bool wanted = true; wanted;) {
    if (pending_.load(std::memory_order_acquire) == 0) {
      wait_for_change(pending_, 0, ms_to_ns(period_ms_));
    }
    const std::uint32_t requests = pending_.load(std::memory_order_acquire);
    wanted = tasks_->run(requests);
    if (!wanted) {
      running_.store(false, std::memory_order_release);
    }
    if (requests != 0 || !wanted) {
      pending_.fetch_and(~requests, std::memory_order_acq_rel);
      wake_all(pending_);
    }
  }
}

bool Worker::request(WorkerRequest request, std::uint32_t limit_ms) {
  if (!running()) {
    return true;
  }
  const std::uint64_t deadline = ring::monotonic_ns() + ms_to_ns(limit_ms);
  pending_.fetch_or(request, std::memory_order_acq_rel);
  wake_all(pending_);
  for (;;) {
    const std::uint32_t pending = pending_.load(std::memory_order_acquire);
    const std::uint64_t now = ring::monotonic_ns();
    if ((pending & request) == 0 || !running()) {
      return true;
    }
    if (now >= deadline) {
      return false;
    }
    wait_for_change(pending_, pending, deadline - now);
  }
}

void Worker::forget_after_fork() {
  running_.store(false, std::memory_order_relaxed);
  pending_.store(0, std::memory_order_relaxed);
}

}  // namespace pyrometer::inject
