#include "sources/poller_lane.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

namespace pyrometer::sources {
namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC in libstdc++

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

PollerControl::PollerControl() = default;
PollerControl::~PollerControl() = default;

void PollerControl::deliver(Batch& batch) {
  const std::lock_guard lock(sink_mutex);
  if (!sink) return;
  try {
    sink(batch);
  } catch (const std::exception&) {
    // A sink that breaks its promise must not end the thread, and with it the program.
  }
}

Lane::Lane(PollerControl& control, std::unique_ptr<Source> source)
    : control_(control), source_(std::move(source)), name_(source_->name()) {
  batch_.source = name_;
  due_.resize(source_->groups().size());
  retry_ = control_.options.first_retry;
}

bool Lane::stopping() {
  const std::lock_guard lock(control_.mutex);
  return control_.stopping;
}

// A source whose call came back after the owner had gone may run while the program is being torn
// down: it is neither stopped nor destroyed.
bool Lane::leak_if_abandoned() {
  // Where leak checkers find them; never destroyed, for threads may outlive what is.
  static std::mutex mutex;
  static auto* const left_behind = new std::vector<Source*>;
  const std::lock_guard lock(control_.mutex);
  if (abandoned) {
    const std::lock_guard listing(mutex);
    left_behind->push_back(source_.release());
  }
  return abandoned;
}

void Lane::run() {
  while (!stopping()) {
    if (start_source()) sample_until_failure();
    if (leak_if_abandoned()) return;
    call_began_ns_ = monotonic_ns();
    source_->stop();
    call_began_ns_ = 0;
    if (!stopping()) wait_for_retry();
  }
  {
    const std::lock_guard lock(state_mutex_);
    state_ = SourceState::kStopped;
  }
  cpu_ns_ = thread_cpu_ns();
}

template <typename Call>
base::Result<void> Lane::guarded(const Call& call) {
  call_began_ns_ = monotonic_ns();
  base::Result<void> result;
  try {
    result = call();
  } catch (const std::exception& problem) {
    result = base::fail({.kind = base::ErrorKind::kResource, .message = problem.what()});
  }
  call_began_ns_ = 0;
  if (stale_told_.exchange(false)) tell(EventKind::kSourceBack, "the call has returned");
  return result;
}

bool Lane::start_source() {
  if (const auto started = guarded([this] { return source_->start(); }); !started) {
    fail(started.error());
    return false;
  }
  const auto now = Clock::now();
  const auto groups = source_->groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    due_[group] = now;
    if (groups[group].period == kOnce && !sample_group(group)) return false;
  }
  return true;
}

void Lane::sample_until_failure() {
  while (true) {
    std::uint64_t request = 0;
    {
      std::unique_lock lock(control_.mutex);
      control_.changed.wait_until(
          lock, next_due(), [this] { return control_.stopping || control_.request != served; });
      request = control_.request;
      // A last round that was asked for comes before the end.
      if (control_.stopping && request == served) return;
    }
    const bool all = request != served;  // only this thread writes `served`
    const bool well = sample_due(all);
    if (all) serve(request, well);
    if (!well) return;
    retry_ = control_.options.first_retry;
  }
}

bool Lane::sample_due(bool all) {
  const auto groups = source_->groups();
  const auto now = Clock::now();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].period == kOnce || (!all && due_[group] > now)) continue;
    const auto period = std::max<std::chrono::nanoseconds>(
        std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          groups[group].period * control_.options.period_scale));
    // Rounds that a slow call made impossible are left out, not made up for.
    while (due_[group] <= now) {
      due_[group] +=
          std::max<std::chrono::nanoseconds>(period, (now - due_[group]) / period * period);
    }
    if (!sample_group(group)) return false;
  }
  // Lanes look after one another, so that a hang is noticed without the owner's help.
  for (const auto& lane : control_.lanes) lane->notice_stale(monotonic_ns());
  return true;
}

bool Lane::sample_group(std::size_t group) {
  batch_.group = source_->groups()[group].name;
  batch_.readings.clear();
  batch_.events.clear();
  batch_.begin_ns = monotonic_ns();
  const auto sampled = guarded([&] { return source_->sample(group, batch_); });
  batch_.end_ns = monotonic_ns();
  add_own_cost(batch_);
  bool was_failed = false;
  if (sampled) {
    const std::lock_guard lock(state_mutex_);
    was_failed = state_ == SourceState::kFailed;
    state_ = SourceState::kRunning;
    reason_.clear();
    last_good_ns_ = batch_.end_ns;
    ++samples_;
  }
  if (was_failed) {
    batch_.tell(EventKind::kSourceBack, {.scope = Scope::kMonitor, .part = name_}, batch_.begin_ns,
                "works again");
  }
  control_.deliver(batch_);
  // The room of a usual batch is kept for the next, not that of thousands of processes.
  constexpr std::size_t kUsual = 8192;
  if (batch_.readings.capacity() > kUsual) batch_.readings = {};
  if (!sampled) fail(sampled.error());
  return sampled.has_value();
}

void Lane::add_own_cost(Batch& batch) {
  cpu_ns_ = thread_cpu_ns();
  const Subject self{.scope = Scope::kMonitor, .part = name_};
  batch.put(MetricId::kMonitorCpu, self, batch.end_ns,
            Value::number(static_cast<double>(cpu_ns_.load())));
  batch.put(MetricId::kMonitorRound, self, batch.end_ns,
            Value::number(static_cast<double>(batch.end_ns - batch.begin_ns)));
}

void Lane::fail(const base::Error& error) {
  cpu_ns_ = thread_cpu_ns();
  std::string reason = error.to_string();
  {
    const std::lock_guard lock(state_mutex_);
    const bool known = state_ == SourceState::kFailed && reason_ == reason;
    state_ = SourceState::kFailed;
    if (known) return;  // said once, however often it is retried
    reason_ = reason;
  }
  tell(EventKind::kSourceFailed, std::move(reason));
}

void Lane::tell(EventKind kind, std::string text) {
  Batch batch;
  batch.source = name_;
  batch.begin_ns = batch.end_ns = monotonic_ns();
  batch.tell(kind, {.scope = Scope::kMonitor, .part = name_}, batch.begin_ns, std::move(text));
  control_.deliver(batch);
}

void Lane::wait_for_retry() {
  const auto until = Clock::now() + retry_;
  retry_ = std::min(retry_ * 2, control_.options.last_retry);
  while (true) {
    std::uint64_t request = 0;
    {
      std::unique_lock lock(control_.mutex);
      const bool woken = control_.changed.wait_until(
          lock, until, [this] { return control_.stopping || control_.request != served; });
      if (!woken || control_.stopping) return;
      request = control_.request;
    }
    serve(request, false);
  }
}

void Lane::serve(std::uint64_t request, bool well) {
  const std::lock_guard lock(control_.mutex);
  served = request;
  served_well = well;
  control_.changed.notify_all();
}

Clock::time_point Lane::next_due() const {
  auto next = Clock::now() + std::chrono::hours(1);
  const auto groups = source_->groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].period != kOnce) next = std::min(next, due_[group]);
  }
  return next;
}

bool Lane::is_stale(std::int64_t now_ns) const {
  const std::int64_t began = call_began_ns_;
  return began != 0 && now_ns - began > control_.options.stale_after.count();
}

void Lane::notice_stale(std::int64_t now_ns) {
  if (!is_stale(now_ns) || stale_told_) return;
  std::unique_lock lock(control_.sink_mutex, std::try_to_lock);
  if (!lock || stale_told_.exchange(true) || !control_.sink) return;
  Batch batch;
  batch.source = name_;
  batch.begin_ns = batch.end_ns = now_ns;
  batch.tell(EventKind::kSourceStale, {.scope = Scope::kMonitor, .part = name_}, now_ns,
             "a call has not returned; what was read before is old");
  try {
    control_.sink(batch);
  } catch (const std::exception&) {
    // As in deliver().
  }
}

SourceHealth Lane::health(std::int64_t now_ns) {
  SourceHealth health{
      .name = name_, .last_good_ns = last_good_ns_, .cpu_ns = cpu_ns_, .samples = samples_};
  const std::lock_guard lock(state_mutex_);
  health.state = is_stale(now_ns) ? SourceState::kStale : state_;
  health.reason = health.state == SourceState::kStale ? "a call has not returned" : reason_;
  return health;
}

}  // namespace pyrometer::sources
