// Writes what the sources measure into the recording.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recording/writer.h"
#include "sources/source.h"

namespace pyrometer::monitor {

// take() is called from the poller's threads, write() from the monitor's.
class MetricLog {
 public:
  void take(sources::Batch& batch);
  void write(recording::Writer& writer);
  // Latest value of a metric of a device, for the status line; missing: nullopt-like NaN.
  [[nodiscard]] double latest(sources::MetricId metric, std::int32_t device);

 private:
  struct Series {
    std::int64_t id = 0;  // in the recording
    std::string reason;   // the last one written, so that it is written once
  };
  using Key = std::pair<int, std::string>;

  void write_one(recording::Writer& writer, const sources::Reading& reading);

  std::mutex mutex_;
  std::vector<sources::Reading> readings_;
  std::vector<sources::Event> events_;
  std::map<std::pair<int, std::int32_t>, double> latest_;
  std::map<Key, Series> series_;  // of the monitor's thread
};

}  // namespace pyrometer::monitor
