#include "readout/live.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "readout/board.h"
#include "readout/host_name.h"
#include "sources/nvml/processes.h"
#include "sources/procfs/process_owner.h"

namespace pyrometer::readout {
namespace {

// Whose a process is hardly changes: only its name does, with exec.
constexpr std::int64_t kOwnerGoodFor = 30'000'000'000;

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Owners of processes, asked for once in a while and not for every snapshot.
class OwnerCache {
 public:
  explicit OwnerCache(const LiveOptions& options)
      : owners_(options.root, sources::nvml::in_host_pid_namespace(options.root), options.made_up),
        rank_of_(options.rank_of),
        with_arguments_(options.with_arguments) {}

  void fill(std::vector<Device>& devices) {
    const std::int64_t now = sources::monotonic_ns();
    ++round_;
    for (Device& device : devices) {
      for (Process& process : device.processes) {
        Entry& entry = known_[process.pid];
        // A number that was gone for a round may be another process's now.
        if (entry.round + 1 < round_ || now - entry.read_ns > kOwnerGoodFor) {
          entry.owner = owners_.look_up(process.pid, with_arguments_,
                                        text_of(device, MetricId::kGpuUuid), process.is_local);
          sources::add_rank(entry.owner, process.pid, rank_of_);
          entry.read_ns = now;
        }
        entry.round = round_;
        process.owner = entry.owner;
      }
    }
    std::erase_if(known_, [this](const auto& item) { return item.second.round != round_; });
  }

 private:
  struct Entry {
    sources::ProcessOwner owner;
    std::int64_t read_ns = 0;
    std::uint64_t round = 0;
  };
  sources::ProcessOwners owners_;
  sources::RankLookup rank_of_;
  bool with_arguments_;
  std::map<std::int32_t, Entry> known_;
  std::uint64_t round_ = 1;
};

}  // namespace

struct Live::State {
  explicit State(LiveOptions given) : options(std::move(given)), owners(options) {
    if (options.host.empty()) options.host = host_name();
    auto first = std::make_shared<Snapshot>();
    first->unix_ms = unix_ms_now();
    first->host = options.host;
    snapshot = std::move(first);
  }

  void take(sources::Batch& batch);
  void note(const sources::Batch& batch, const sources::Event& event);
  void publish();

  LiveOptions options;
  // Used by the sink alone, which the poller calls one at a time.
  Board board;
  OwnerCache owners;
  std::map<std::string, std::string, std::less<>> problems;  // of sources that are out of order

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  // Guarded by mutex:
  std::shared_ptr<const Snapshot> snapshot;
  std::uint64_t number = 0;
  std::uint64_t events_told = 0;
  std::deque<LiveEvent> events;
  bool is_over = false;
};

void Live::State::note(const sources::Batch& batch, const sources::Event& event) {
  using sources::EventKind;
  if (event.kind == EventKind::kProcessStarted || event.kind == EventKind::kProcessEnded) return;
  LiveEvent told{.unix_ms = unix_ms_now(),
                 .kind = event.kind,
                 .source = std::string(batch.source),
                 .device_uuid = board.uuid_of(batch.source, event.subject.device),
                 .code = event.code,
                 .text = event.text};
  const std::lock_guard lock(mutex);
  told.number = ++events_told;
  events.push_back(std::move(told));
  if (events.size() > kEventsKept) events.pop_front();
}

void Live::State::take(sources::Batch& batch) {
  const bool is_fast = batch.group == "fast";
  board.take(batch);
  // A batch that was cut short by a failure is followed by the event that tells of it.
  if (is_fast) problems.erase(std::string(batch.source));
  for (const sources::Event& event : batch.events) {
    note(batch, event);
    if (event.kind != sources::EventKind::kSourceFailed) continue;
    problems.insert_or_assign(std::string(batch.source), event.text);
    board.forget(batch.source);
  }
  if (is_fast || !batch.events.empty()) publish();
}

void Live::State::publish() {
  auto next = std::make_shared<Snapshot>();
  next->unix_ms = options.unix_ms ? options.unix_ms() : unix_ms_now();
  next->host = options.host;
  next->devices = board.devices();
  if (options.with_processes) {
    owners.fill(next->devices);
  } else {
    for (Device& device : next->devices) device.processes.clear();
  }
  if (next->devices.empty() && !problems.empty()) {
    next->problem =
        base::Error{.kind = base::ErrorKind::kNotFound, .message = problems.begin()->second};
  }
  const std::lock_guard lock(mutex);
  snapshot = std::move(next);
  ++number;
  changed.notify_all();
}

Live::Live(std::vector<std::unique_ptr<sources::Source>> sources, LiveOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  poller_ = std::make_unique<sources::Poller>(
      std::move(sources), [state = state_](sources::Batch& batch) { state->take(batch); },
      state_->options.poller);
}

Live::~Live() { stop(); }

base::Result<void> Live::start() { return poller_->start(); }

bool Live::stop(std::chrono::nanoseconds patience) {
  const bool all = poller_->stop(patience);
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  state_->changed.notify_all();
  return all;
}

void Live::look_after() const { poller_->notice_stale(); }

LiveView Live::view() const {
  LiveView view;
  for (const sources::SourceHealth& health : poller_->health()) {
    view.sources.push_back({.name = std::string(health.name),
                            .state = health.state,
                            .reason = health.reason,
                            .last_good_ns = health.last_good_ns,
                            .cpu_ns = health.cpu_ns});
  }
  const std::lock_guard lock(state_->mutex);
  view.snapshot = state_->snapshot;
  view.number = state_->number;
  view.events.assign(state_->events.begin(), state_->events.end());
  return view;
}

bool Live::wait_newer(std::uint64_t number, std::chrono::nanoseconds patience) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, patience,
                                  [&] { return state_->is_over || state_->number > number; });
}

}  // namespace pyrometer::readout
