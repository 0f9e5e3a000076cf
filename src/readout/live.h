// A snapshot that is kept fresh in the background: what screens and servers show.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "readout/snapshot.h"
#include "sources/poller.h"
#include "sources/source.h"

namespace pyrometer::readout {

struct LiveOptions {
  std::string root;  // of /proc, for the owners of processes
  std::string host;  // as shown; empty: this machine's name
  bool with_processes = true;
  bool with_arguments = false;
  sources::RankLookup rank_of;            // of recorded processes; empty: ranks stay unknown
  sources::OwnerLookup made_up;           // of a fleet that is: sources::replay::made_up_owners()
  std::function<std::int64_t()> unix_ms;  // see sources::StandIn
  sources::PollerOptions poller;
};

// What a source is doing. Times are CLOCK_MONOTONIC in nanoseconds.
struct LiveSource {
  std::string name;
  sources::SourceState state = sources::SourceState::kStarting;
  std::string reason;             // of a failure or hang, in words, with what to do; else empty
  std::int64_t last_good_ns = 0;  // 0: nothing read yet
  std::int64_t cpu_ns = 0;        // spent on reading
};

struct LiveEvent {
  std::uint64_t number = 0;  // from 1, without gaps
  std::int64_t unix_ms = 0;
  sources::EventKind kind = sources::EventKind::kSourceFailed;
  std::string source;
  std::string device_uuid;  // empty where it concerns none
  std::int64_t code = 0;    // of an Xid
  std::string text;
};

struct LiveView {
  std::shared_ptr<const Snapshot> snapshot;  // never null; number 0 has no devices
  std::uint64_t number = 0;                  // grows with every new snapshot
  std::vector<LiveSource> sources;
  std::vector<LiveEvent> events;  // the last ones, oldest first; see kEventsKept
};

class Live {
 public:
  static constexpr std::size_t kEventsKept = 256;

  Live(std::vector<std::unique_ptr<sources::Source>> sources, LiveOptions options);
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live();

  // Errors: kResource. Call once.
  [[nodiscard]] base::Result<void> start();
  // See sources::Poller::stop().
  bool stop(std::chrono::nanoseconds patience = std::chrono::milliseconds(50));

  // What is known now. Never waits for a source, nor for what it told to be taken in. Any thread.
  [[nodiscard]] LiveView view() const;
  // Takes note of sources that have begun to hang, as an event. To be called about once a second,
  // by a thread that may wait.
  void look_after() const;
  // Waits for a snapshot that is newer than `number`, an event or the end; false after `patience`
  // without one. Any thread.
  bool wait_newer(std::uint64_t number, std::chrono::nanoseconds patience) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // the poller's threads may outlive this object
  std::unique_ptr<sources::Poller> poller_;
};

}  // namespace pyrometer::readout
