// One reading of a metric: a value or the reason why there is none. Missing is not zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "sources/generated/metrics.h"  // enum class MetricId, Scope, metric_info()

namespace pyrometer::sources {

enum class Absence : std::uint8_t {
  kNotSupported,    // this device, kernel or driver does not have it
  kNoPermission,    // it exists and may not be read by this user
  kNotYet,          // needs a second sample (rates, hardware counters)
  kNotApplicable,   // has no meaning here: a limit that is not set, a mean of no events
  kNotAvailable,    // exists, but the driver gave none this time
  kOtherNamespace,  // belongs to a process that this PID namespace does not show
  kDeviceLost,      // the GPU has fallen off the bus
  kDeviceAsleep,    // reading it would wake a suspended GPU
  kImplausible,     // the driver gave a number that cannot be true
  kFailed,          // the call failed for another reason
};

// "not supported", "no permission", …: completes "not measured: ".
[[nodiscard]] std::string_view absence_text(Absence absence);

// Why a value is missing. `text` says it more precisely and may be empty; it always points to
// text that lives as long as the program.
struct Gap {
  Absence absence = Absence::kFailed;
  std::string_view text;
};

class Value {
 public:
  [[nodiscard]] static Value number(double number) { return Value(number); }
  [[nodiscard]] static Value text(std::string text) { return Value(std::move(text)); }
  [[nodiscard]] static Value missing(Absence absence, std::string_view static_text = {}) {
    return Value(Gap{absence, static_text});
  }

  // Pointers are null where the value is of another kind.
  [[nodiscard]] const double* number() const { return std::get_if<double>(&content_); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&content_); }
  [[nodiscard]] const Gap* gap() const { return std::get_if<Gap>(&content_); }
  [[nodiscard]] bool is_missing() const { return gap() != nullptr; }
  // "what: why" in words; empty where there is a value.
  [[nodiscard]] std::string reason() const;

 private:
  template <typename T>
  explicit Value(T content) : content_(std::move(content)) {}
  std::variant<double, std::string, Gap> content_;
};

// What a reading is about. Fields that the scope does not need keep their default, so that equal
// subjects compare equal.
struct Subject {
  Scope scope = Scope::kHost;
  // Device: a number that stands for one UUID as long as the source lives, also when the driver
  // numbers its GPUs anew. MIG instances are devices of their own. `gpu.uuid` tells which.
  std::int32_t device = -1;
  // Process id in the PID namespace of the source: that of the host for NVML.
  std::int32_t pid = -1;
  // CPU, NUMA node, disk, network interface: "7", "0", "nvme0n1", "eth0".
  std::string part;

  friend bool operator==(const Subject&, const Subject&) = default;
};

// Every reading of a batch has its own time, CLOCK_MONOTONIC in nanoseconds.
struct Reading {
  MetricId metric;
  Subject subject;
  std::int64_t time_ns = 0;
  Value value;
};

enum class EventKind : std::uint8_t {
  kSourceFailed,  // the source as a whole; text says why and what to do. Once per failure
  kSourceBack,    // works again after a failure
  kSourceStale,   // a call has not returned for a long time; what was read before is old
  kDeviceFound,   // first seen, or seen for the first time since the source began
  kDeviceLost,    // fell off the bus; other devices go on
  kDeviceBack,    // answers again
  kXid,           // the driver's error report; code = Xid number
  kProcessStarted,
  kProcessEnded,
};

[[nodiscard]] std::string_view event_name(EventKind kind);

struct Event {
  EventKind kind;
  Subject subject;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t code = 0;
  std::string text;
};

}  // namespace pyrometer::sources
