#include "sources/poller.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/thread_signals.h"
#include "sources/poller_lane.h"

namespace pyrometer::sources {

struct Poller::Shared : PollerControl {
  static void run_lane(const std::shared_ptr<Shared>& shared, Lane& lane);
  [[nodiscard]] base::Result<void> start_threads(const std::shared_ptr<Shared>& self);
};

// The thread holds `shared`, so that whatever it may still touch outlives it.
void Poller::Shared::run_lane(const std::shared_ptr<Shared>& shared, Lane& lane) {
  pthread_setname_np(pthread_self(), "pyro-sources");
  lane.run();
  const std::lock_guard lock(shared->mutex);
  lane.finished = true;
  shared->changed.notify_all();
}

base::Result<void> Poller::Shared::start_threads(const std::shared_ptr<Shared>& self) {
  const base::SignalsHeldBack held;
  base::Result<void> result;
  try {
    for (const auto& lane : lanes) {
      lane->thread = std::thread([self, target = lane.get()] { run_lane(self, *target); });
    }
  } catch (const std::system_error& problem) {
    result = base::fail({.kind = base::ErrorKind::kResource,
                         .message = std::string("no thread to measure on: ") + problem.what(),
                         .advice = "Raise the limit on processes (ulimit -u)"});
  }
  return result;
}

Poller::Poller(std::vector<std::unique_ptr<Source>> sources, BatchSink sink, PollerOptions options)
    : shared_(std::make_shared<Shared>()) {
  shared_->options = options;
  shared_->sink = std::move(sink);
  for (auto& source : sources) {
    shared_->lanes.push_back(std::make_unique<Lane>(*shared_, std::move(source)));
  }
}

Poller::~Poller() { stop(); }

base::Result<void> Poller::start() {
  auto started = shared_->start_threads(shared_);
  if (!started) stop();
  return started;
}

bool Poller::sample_all(std::chrono::nanoseconds patience) {
  auto& control = *shared_;
  std::unique_lock lock(control.mutex);
  if (control.stopping) return false;
  const std::uint64_t request = ++control.request;
  control.changed.notify_all();
  const auto done = [&](const auto& lane) { return lane->served >= request; };
  const bool all = control.changed.wait_for(
      lock, patience, [&] { return std::ranges::all_of(shared_->lanes, done); });
  return all &&
         std::ranges::all_of(shared_->lanes, [](const auto& lane) { return lane->served_well; });
}

bool Poller::stop(std::chrono::nanoseconds patience) {
  auto& control = *shared_;
  const auto finished = [](const auto& lane) { return lane->finished || !lane->thread.joinable(); };
  {
    std::unique_lock lock(control.mutex);
    control.stopping = true;
    control.changed.notify_all();
    control.changed.wait_for(lock, patience,
                             [&] { return std::ranges::all_of(shared_->lanes, finished); });
  }
  {
    // Waits for a sink that runs; from here on nothing is delivered.
    const std::lock_guard lock(control.sink_mutex);
    control.sink = nullptr;
  }
  bool all = true;
  for (const auto& lane : shared_->lanes) {
    if (!lane->thread.joinable()) continue;
    std::unique_lock lock(control.mutex);
    if (lane->finished) {
      lock.unlock();
      lane->thread.join();
    } else {
      lane->abandoned = true;
      lane->thread.detach();
      all = false;
    }
  }
  return all;
}

void Poller::notice_stale() {
  for (const auto& lane : shared_->lanes) lane->notice_stale(monotonic_ns());
}

std::vector<SourceHealth> Poller::health() const {
  std::vector<SourceHealth> all;
  for (const auto& lane : shared_->lanes) all.push_back(lane->health(monotonic_ns()));
  return all;
}

std::int64_t Poller::cpu_ns() const {
  std::int64_t sum = 0;
  for (const auto& lane : shared_->lanes) sum += lane->cpu_ns();
  return sum;
}

}  // namespace pyrometer::sources
