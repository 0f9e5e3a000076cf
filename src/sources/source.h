// The interface of everything that is measured: GPUs, the host, process trees.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sources/reading.h"

namespace pyrometer::sources {

struct StandIn;  // sources/stand_in.h

// Metrics that are read together, and how often.
struct Group {
  std::string_view name;            // "fast", "slow", "once"
  std::chrono::nanoseconds period;  // kOnce: after each successful start()
};
inline constexpr std::chrono::nanoseconds kOnce{0};
inline constexpr std::chrono::nanoseconds kFast = std::chrono::seconds(1);
inline constexpr std::chrono::nanoseconds kSlow = std::chrono::seconds(5);

// CLOCK_MONOTONIC.
[[nodiscard]] std::int64_t monotonic_ns();

// What one call of sample() measured.
struct Batch {
  std::string_view source;  // name of the source; lives as long as the source
  std::string_view group;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC, around the call
  std::int64_t end_ns = 0;
  std::vector<Reading> readings;
  std::vector<Event> events;

  void put(MetricId metric, const Subject& subject, std::int64_t time_ns, Value value) {
    readings.push_back({metric, subject, time_ns, std::move(value)});
  }
  void tell(EventKind kind, const Subject& subject, std::int64_t time_ns, std::string text,
            std::int64_t code = 0) {
    events.push_back({kind, subject, time_ns, code, std::move(text)});
  }
};

// One source is used by one thread at a time. No exception leaves it (the poller takes one for an
// error all the same).
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // "nvml", "host", "process tree".
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Fixed for the life of the source; the same order as the index of sample().
  [[nodiscard]] virtual std::span<const Group> groups() const = 0;
  // Opens what it needs. Called again, with back-off, after a failure of itself or of sample().
  // The error's message says what is wrong, its advice what can be done.
  [[nodiscard]] virtual base::Result<void> start() = 0;
  // Appends readings. An error means that the source as a whole is out of order (driver gone,
  // watched process ended): what is wrong with one device or metric is a reading's Gap or an event
  // instead. What was appended before the error counts.
  [[nodiscard]] virtual base::Result<void> sample(std::size_t group, Batch& batch) = 0;
  // Gives back what start() took. Called before a new start() and at the end.
  virtual void stop() noexcept = 0;
};

struct SourceOptions {
  std::string root;   // prefix of /proc and /sys; empty: the real ones
  int root_pid = -1;  // of the tree to watch; -1: none
  // GPUs to read: UUIDs ("GPU-…", "MIG-…"), PCI addresses or the driver's numbers; empty: all.
  std::vector<std::string> gpus;
  int reaper_pid = -1;  // orphans of this process belong to the tree (PR_SET_CHILD_SUBREAPER)

  // Of GPUs. For one look instead of a watch: `brief` leaves out the calls that take milliseconds.
  bool brief = false;
  bool may_block = true;  // calls that measure for some 20 ms may be made
  // Sampling "once" says what every device is each time, not only of those that are new.
  bool identify_always = false;
  // Not null: this instead of the machine's GPUs. Shared since options are copied.
  std::shared_ptr<const StandIn> stand_in;
};

// Subject::device begins here for GPUs of other makers than NVIDIA, so that numbers of different
// sources never meet.
inline constexpr std::int32_t kFirstAmdDevice = 1000;
inline constexpr std::int32_t kFirstAscendDevice = 2000;

// The sources that these options ask for, in the order of the registry.
[[nodiscard]] std::vector<std::unique_ptr<Source>> make_sources(const SourceOptions& options);
// Those of GPUs alone. NVML is among them also where no NVIDIA GPU is: its error says why. All have
// the groups "fast", "slow" and "once", in this order.
[[nodiscard]] std::vector<std::unique_ptr<Source>> make_gpu_sources(const SourceOptions& options);

}  // namespace pyrometer::sources
