#include "monitor/metric_log.h"

#include <limits>

namespace pyrometer::monitor {
namespace {

// "gpu 0", "process 123", "cpu 7", "disk nvme0n1", "host".
std::string object_of(const sources::Subject& subject) {
  std::string text;
  if (subject.device >= 0) text = "gpu " + std::to_string(subject.device);
  if (subject.pid >= 0) {
    if (!text.empty()) text += ' ';
    text += "process " + std::to_string(subject.pid);
  }
  if (!subject.part.empty()) {
    if (!text.empty()) text += ' ';
    text += subject.part;
  }
  return text.empty() ? "host" : text;
}

}  // namespace

void MetricLog::take(sources::Batch& batch) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kMost = 200'000;  // readings that wait; the monitor writes twice a second
  for (sources::Reading& reading : batch.readings) {
    if (const double* value = reading.value.number(); value != nullptr) {
      latest_[{static_cast<int>(reading.metric), reading.subject.device}] = *value;
    }
    if (readings_.size() < kMost) readings_.push_back(std::move(reading));
  }
  for (sources::Event& event : batch.events) events_.push_back(std::move(event));
}

double MetricLog::latest(sources::MetricId metric, std::int32_t device) {
  const std::lock_guard lock(mutex_);
  const auto found = latest_.find({static_cast<int>(metric), device});
  return found == latest_.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

void MetricLog::write(recording::Writer& writer) {
  std::vector<sources::Reading> readings;
  std::vector<sources::Event> events;
  {
    const std::lock_guard lock(mutex_);
    readings.swap(readings_);
    events.swap(events_);
  }
  for (const sources::Reading& reading : readings) {
    // Each core of a large machine, each second, would outgrow all the rest of the recording.
    if (sources::metric_info(reading.metric).scope == sources::Scope::kCore) continue;
    write_one(writer, reading);
  }
  for (const sources::Event& event : events) {
    const bool routine = event.kind == sources::EventKind::kProcessStarted ||
                         event.kind == sources::EventKind::kProcessEnded ||
                         event.kind == sources::EventKind::kDeviceFound;
    writer.add_note(event.time_ns, routine ? "info" : "warning",
                    std::string(sources::event_name(event.kind)) + ": " + object_of(event.subject) +
                        (event.text.empty() ? "" : ": " + event.text));
  }
}

void MetricLog::write_one(recording::Writer& writer, const sources::Reading& reading) {
  const auto& info = sources::metric_info(reading.metric);
  const std::string object = object_of(reading.subject);
  Series& series = series_[{static_cast<int>(reading.metric), object}];
  if (series.id == 0) series.id = writer.add_metric(info.id, info.unit, object);
  if (const double* value = reading.value.number(); value != nullptr) {
    writer.add_sample(series.id, reading.time_ns, *value);
    series.reason.clear();
    return;
  }
  // A reason is written when it changes; texts (a device's name) are written as such.
  std::string text =
      reading.value.text() != nullptr ? "= " + *reading.value.text() : reading.value.reason();
  if (text == series.reason) return;
  writer.add_missing(series.id, reading.time_ns, text);
  series.reason = std::move(text);
}

}  // namespace pyrometer::monitor
